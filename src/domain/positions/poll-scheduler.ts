import type { Clock } from '../../../lib/clock.ts';

/** One feed's slot in the schedule; at most one poll of it is planned at a time. */
export interface PollTurn {
  /** Plans a steady poll: an interval after `sinceMs`, or later where all polls together exceed the ceiling. */
  every(intervalMs: number, sinceMs: number): void;
  /** Plans a poll at an exact time, as for a poll that backs off. */
  at(dueMs: number): void;
  /** Plans a poll as soon as the ceiling allows, in a queue apart from the steady ones. */
  soon(): void;
  leave(): void;
}

// The rest of the ceiling is for first polls and for those after an order, which would otherwise wait
// behind a queue of steady polls that never gets shorter.
const STEADY_SHARE = 0.95;
// A timer that is late by no more than this is made up for.
const TIMER_SLACK_MS = 10;
const SLOTS_PER_INTERVAL = 40;
const LONGEST_SLOT_MS = 25;
// The share of a slot by which a timer may be late; without it the rhythm would slip by a slot each time.
const SLOT_SLACK = 0.4;

interface Place {
  readonly poll: () => void;
  /** Adds it to the queue it is planned for. */
  readonly enter: () => void;
  queue: Set<Place>;
  cancel: (() => void) | null;
  /** Its steady polls per second. */
  demand: number;
}

/**
 * Starts the polls of all feeds, never more per second than the ceiling. Where the feeds demand more, each
 * one's interval grows by the same factor.
 */
export class PollScheduler {
  readonly #clock: Clock;
  readonly #pollsPerSecond: number;
  /** Of the slots of this process: all replicas would call the gateway in the same millisecond else. */
  readonly #phase: number;
  readonly #steady = new Set<Place>();
  readonly #urgent = new Set<Place>();
  #demand = 0;
  #freeAtMs = Number.NEGATIVE_INFINITY;
  #isWaiting = false;
  #urgentWasLast = false;

  constructor(clock: Clock, pollsPerSecond: number, random: () => number) {
    this.#clock = clock;
    this.#pollsPerSecond = pollsPerSecond;
    this.#phase = random();
  }

  /** The factor by which every interval is longer than requested. */
  get stretch(): number {
    return Math.max(1, this.#demand / (this.#pollsPerSecond * STEADY_SHARE));
  }

  /** Polls that are due and wait for the ceiling. */
  get waiting(): number {
    return this.#steady.size + this.#urgent.size;
  }

  join(poll: () => void): PollTurn {
    const place: Place = {
      poll,
      enter: () => this.#enter(place),
      queue: this.#steady,
      cancel: null,
      demand: 0,
    };
    return {
      every: (intervalMs, sinceMs) => {
        this.#setDemand(place, 1000 / intervalMs);
        const dueMs = sinceMs + intervalMs * this.stretch;
        this.#plan(place, this.#slotNear(dueMs, intervalMs), this.#steady);
      },
      at: (dueMs) => {
        this.#setDemand(place, 0);
        this.#plan(place, dueMs, this.#steady);
      },
      soon: () => this.#plan(place, this.#clock.now(), this.#urgent),
      leave: () => {
        this.#setDemand(place, 0);
        this.#unplan(place);
      },
    };
  }

  #setDemand(place: Place, demand: number): void {
    this.#demand += demand - place.demand;
    place.demand = demand;
  }

  #plan(place: Place, dueMs: number, queue: Set<Place>): void {
    this.#unplan(place);
    place.queue = queue;
    const delayMs = dueMs - this.#clock.now();
    if (delayMs > 0) place.cancel = this.#clock.after(delayMs, place.enter);
    else this.#enter(place);
  }

  #enter(place: Place): void {
    place.cancel = null;
    place.queue.add(place);
    if (!this.#isWaiting) this.#drain();
  }

  #unplan(place: Place): void {
    place.cancel?.();
    place.cancel = null;
    this.#steady.delete(place);
    this.#urgent.delete(place);
  }

  #drain(): void {
    this.#isWaiting = false;
    while (this.waiting > 0) {
      const nowMs = this.#clock.now();
      if (this.#freeAtMs > nowMs) {
        this.#isWaiting = true;
        this.#clock.after(this.#freeAtMs - nowMs, () => this.#drain());
        return;
      }
      this.#freeAtMs =
        Math.max(this.#freeAtMs, nowMs - TIMER_SLACK_MS) + 1000 / this.#pollsPerSecond;
      this.#next().poll();
    }
  }

  /** Alternates between both queues, so that neither a burst of new feeds nor the steady polls starve the other. */
  #next(): Place {
    const isUrgent = this.#urgent.size > 0 && (this.#steady.size === 0 || !this.#urgentWasLast);
    const queue = isUrgent ? this.#urgent : this.#steady;
    const place = queue.values().next().value as Place;
    this.#urgentWasLast = isUrgent;
    queue.delete(place);
    return place;
  }
  /**
   * Polls fall on slots, so that some run together: a process that wakes up for each of them spends as much on waking as on
   * the poll. The slot is at most a hundredth of the interval before `dueMs`, and at most a sixtieth after it.
   */
  #slotNear(dueMs: number, intervalMs: number): number {
    const slotMs = Math.min(LONGEST_SLOT_MS, intervalMs / SLOTS_PER_INTERVAL);
    const slot = Math.ceil(dueMs / slotMs - this.#phase - SLOT_SLACK);
    return (slot + this.#phase) * slotMs;
  }
}
