import type { Clock } from '../../../lib/clock.ts';

const MINUTE_MS = 60_000;
const MAX_LINES = 10;
const MAX_KEYS = 1_000;
const OTHERS = '"address":"others"';

/** Keeps a flood from filling the log: after ten lines in a minute, an address's refusals for one cause are one line. */
export class RefusalSums {
  readonly #clock: Clock;
  readonly #write: (members: string) => void;
  readonly #counts = new Map<string, number>();

  constructor(clock: Clock, write: (members: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Counts a refusal, and returns whether it has a line of its own. `key`: the members that name its address and cause. */
  add(key: string): boolean {
    if (this.#counts.size === 0) this.#clock.after(MINUTE_MS, () => this.#writeSums());
    const counted = this.#counts.has(key) || this.#counts.size < MAX_KEYS ? key : OTHERS;
    const count = (this.#counts.get(counted) ?? 0) + 1;
    this.#counts.set(counted, count);
    return count <= MAX_LINES;
  }

  #writeSums(): void {
    for (const [key, count] of this.#counts) {
      if (count > MAX_LINES) this.#write(`${key},"count":${count - MAX_LINES}`);
    }
    this.#counts.clear();
  }
}
