import type { Clock } from '../../lib/clock.ts';

const MINUTE_MS = 60_000;
const LINES = 10;
const MOST_KEYS = 1_000;
const OTHERS = '"address":"others"';

/** Keeps a flood from filling the log: beyond a few lines in a minute the refusals of an address are one line by cause. */
export class RefusalSums {
  readonly #clock: Clock;
  readonly #write: (members: string) => void;
  readonly #counts = new Map<string, number>();

  /** `write` is handed the members of a line. */
  constructor(clock: Clock, write: (members: string) => void) {
    this.#clock = clock;
    this.#write = write;
  }

  /** Whether a refusal has a line of its own; `key`: the members that name its address and its cause. */
  hasLine(key: string): boolean {
    const counts = this.#counts;
    if (counts.size === 0) this.#clock.after(MINUTE_MS, () => this.#writeAll());
    const counted = counts.has(key) || counts.size < MOST_KEYS ? key : OTHERS;
    const count = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, count);
    return count <= LINES;
  }

  #writeAll(): void {
    for (const [key, count] of this.#counts) {
      if (count > LINES) this.#write(`${key},"count":${count - LINES}`);
    }
    this.#counts.clear();
  }
}
