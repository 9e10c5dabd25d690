/** Counts how many slots each key holds. A key without any takes no memory. */
export class Slots {
  readonly #held = new Map<string, number>();

  held(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  /** Returns an idempotent function that releases the slot, or null where all are taken. */
  take(key: string, most: number): (() => void) | null {
    const held = this.held(key);
    if (held >= most) return null;
    this.#held.set(key, held + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      const left = this.held(key) - 1;
      if (left > 0) this.#held.set(key, left);
      else this.#held.delete(key);
    };
  }
}
