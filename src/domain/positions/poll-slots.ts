const SLOTS_PER_INTERVAL = 40;
const LONGEST_SLOT_MS = 25;
// The share of a slot by which a timer may be late; without it the rhythm would slip by a slot each time.
const SLACK = 0.4;

/**
 * Aligns polls on slots, so that some run together: a process that wakes up for each of them spends as
 * much on waking as on the poll. Jitter offsets each process's slots, or all replicas would call the
 * gateway in the same millisecond.
 */
export class PollSlots {
  readonly #phase: number;

  constructor(random: () => number) {
    this.#phase = random();
  }

  /** The slot is at most a hundredth of the interval before `dueMs`, and at most a sixtieth after it. */
  near(dueMs: number, intervalMs: number): number {
    const slotMs = Math.min(LONGEST_SLOT_MS, intervalMs / SLOTS_PER_INTERVAL);
    const slot = Math.ceil(dueMs / slotMs - this.#phase - SLACK);
    return (slot + this.#phase) * slotMs;
  }
}
