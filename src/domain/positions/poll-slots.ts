const SLOTS_PER_INTERVAL = 40;
const LONGEST_SLOT_MS = 25;
// Of a slot. So much later than its slot a timer may come, or the rhythm would slip by a slot each time.
const SLACK = 0.4;

/**
 * Moments at which polls are made, so that some are made together: a process that wakes up for each
 * of them spends as much on waking as on the poll. Every process has moments of its own, or all would
 * call the gateway in the same millisecond.
 */
export class PollSlots {
  readonly #phase: number;

  constructor(random: () => number) {
    this.#phase = random();
  }

  /** At most a hundredth of the interval sooner than asked for, and at most a sixtieth later. */
  near(dueMs: number, intervalMs: number): number {
    const slotMs = Math.min(LONGEST_SLOT_MS, intervalMs / SLOTS_PER_INTERVAL);
    const slot = Math.ceil(dueMs / slotMs - this.#phase - SLACK);
    return (slot + this.#phase) * slotMs;
  }
}
