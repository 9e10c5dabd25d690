/** How many of something each key holds at a time. A key that holds none takes no room. */
export class Slots {
  readonly #held = new Map<string, number>();

  held(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  /** The answer gives the slot back; further calls of it do nothing. Null where all are taken. */
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
