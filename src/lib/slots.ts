/** A slot that a key holds until it is released, or moved to another key. */
export interface Slot {
  /** Idempotent. */
  release(): void;
  /** False where all slots of the other key are taken: then this one stays where it is. */
  moveTo(key: string, most: number): boolean;
}

/** Counts how many slots each key holds. A key without any takes no memory. */
export class Slots {
  readonly #held = new Map<string, number>();

  held(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  /** Null where all are taken. */
  take(key: string, most: number): Slot | null {
    if (!this.#enter(key, most)) return null;
    let at: string | null = key;
    return {
      release: () => {
        if (at !== null) this.#leave(at);
        at = null;
      },
      moveTo: (other, mostThere) => {
        // A slot that was released meanwhile takes no other.
        if (at === null || at === other) return true;
        if (!this.#enter(other, mostThere)) return false;
        this.#leave(at);
        at = other;
        return true;
      },
    };
  }

  #enter(key: string, most: number): boolean {
    const held = this.held(key);
    if (held >= most) return false;
    this.#held.set(key, held + 1);
    return true;
  }

  #leave(key: string): void {
    const left = this.held(key) - 1;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
  }
}
