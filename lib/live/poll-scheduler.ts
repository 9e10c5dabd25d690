import type { Clock } from '../clock.ts';

/** One list's slot in the schedule; at most one poll of it is planned at a time. */
export type PollTurn = ReturnType<PollScheduler['join']>;

// The rest of the ceiling is for first polls and for those after an order, which would otherwise wait
// behind a queue of steady polls that never gets shorter.
const STEADY_SHARE = 0.95;
// A timer that is late by no more than this is made up for.
const TIMER_SLACK_MS = 10;
const SLOTS_PER_INTERVAL = 40;
const MAX_SLOT_MS = 25;
// The share of a slot by which a timer may be late; without it the rhythm would slip by a slot each time.
const SLOT_SLACK = 0.4;
const STRETCHED_AGAIN_MS = 60_000;
/** Backends that are back meet all lists that wait for them, spread over this time. */
const RESUMED_WITHIN_MS = 2_000;
/** An answer after so long without any is that of a backend that is back: beside lists that are answered, one that fails waits on. */
const SILENT_MS = 2_000;

export type PollScheduler = ReturnType<typeof createPollScheduler>;

/** Starts all lists' polls, no more a second than the ceiling; `onStretched`: the factor by which intervals grow, once a minute. */
export function createPollScheduler(
  clock: Clock,
  pollsPerSecond: number,
  random: () => number,
  onStretched: (factor: number) => void = () => {},
) {
  type Poll = () => void;
  const steady = new Set<Poll>();
  const urgent = new Set<Poll>();
  /** The lists that back off, each with what plans its poll sooner. */
  const backingOff = new Map<Poll, (nowMs: number, spreadMs: number) => void>();
  let answeredAtMs = Number.NEGATIVE_INFINITY;
  // The slots of each process have a phase of their own, or all replicas would call a backend in the same millisecond.
  const phase = random();
  /** The steady polls of all lists per second. */
  let demand = 0;
  let freeAtMs = Number.NEGATIVE_INFINITY;
  let stretchedAtMs = Number.NEGATIVE_INFINITY;
  let isWaiting = false;
  let urgentWasLast = false;
  const stretch = () => Math.max(1, demand / (pollsPerSecond * STEADY_SHARE));

  function drain(): void {
    isWaiting = false;
    while (steady.size + urgent.size > 0) {
      const nowMs = clock.now();
      if (freeAtMs > nowMs) {
        isWaiting = true;
        clock.after(freeAtMs - nowMs, drain);
        return;
      }
      freeAtMs = Math.max(freeAtMs, nowMs - TIMER_SLACK_MS) + 1000 / pollsPerSecond;
      takeNext()();
    }
  }

  /** Alternates between both queues, so that neither a burst of new lists nor the steady polls starve the other. */
  function takeNext(): Poll {
    urgentWasLast = urgent.size > 0 && (steady.size === 0 || !urgentWasLast);
    const queue = urgentWasLast ? urgent : steady;
    const poll = queue.values().next().value as Poll;
    queue.delete(poll);
    return poll;
  }

  /**
   * Polls fall on slots, so that some run together: a process that wakes up for each of them spends as much on waking as on
   * the poll. The slot is at most a hundredth of the interval before `dueMs`, and at most a sixtieth after it.
   */
  function slotNear(dueMs: number, intervalMs: number): number {
    const slotMs = Math.min(MAX_SLOT_MS, intervalMs / SLOTS_PER_INTERVAL);
    const slot = Math.ceil(dueMs / slotMs - phase - SLOT_SLACK);
    return (slot + phase) * slotMs;
  }

  function resume(): void {
    const nowMs = clock.now();
    for (const planSooner of backingOff.values()) planSooner(nowMs, random() * RESUMED_WITHIN_MS);
  }

  return {
    /** The factor by which every interval is longer than requested. */
    stretch,
    /** Polls that are due and wait for the ceiling. */
    waiting: () => steady.size + urgent.size,
    /** The backend is back: lists that back off from it are polled soon, within the ceiling. */
    resume,
    /** A list was read that is polled at this interval: one interval without an answer is no silence. */
    answered(intervalMs: number): void {
      const nowMs = clock.now();
      if (nowMs - answeredAtMs >= Math.max(SILENT_MS, 2 * intervalMs * stretch())) resume();
      answeredAtMs = nowMs;
    },
    /** `poll` is a function of this list alone. */
    join(poll: Poll) {
      let own = 0;
      let cancel = () => {};

      function demandOf(perSecond: number): void {
        demand += perSecond - own;
        own = perSecond;
        const factor = stretch();
        if (factor === 1 || clock.now() < stretchedAtMs + STRETCHED_AGAIN_MS) return;
        stretchedAtMs = clock.now();
        onStretched(factor);
      }

      function unplan(): void {
        cancel();
        backingOff.delete(poll);
        steady.delete(poll);
        urgent.delete(poll);
      }

      function plan(dueMs: number, queue: Set<Poll>): void {
        unplan();
        const enter = () => {
          queue.add(poll);
          if (!isWaiting) drain();
        };
        const delayMs = dueMs - clock.now();
        if (delayMs > 0) cancel = clock.after(delayMs, enter);
        else enter();
      }

      return {
        /** Plans a steady poll: an interval after `sinceMs`, or later where all polls together exceed the ceiling. */
        every(intervalMs: number, sinceMs: number): void {
          demandOf(1000 / intervalMs);
          plan(slotNear(sinceMs + intervalMs * stretch(), intervalMs), steady);
        },
        /** Plans a poll at an exact time: for one that backs off sooner where its backend is back, though not before `soonestMs`. */
        at(dueMs: number, soonestMs = dueMs): void {
          demandOf(0);
          plan(dueMs, steady);
          if (soonestMs >= dueMs) return;
          backingOff.set(poll, (nowMs, spreadMs) =>
            plan(Math.min(dueMs, Math.max(nowMs, soonestMs) + spreadMs), steady),
          );
        },
        /** Plans a poll as soon as the ceiling allows, in a queue apart from the steady ones, where it keeps its place. */
        soon(): void {
          if (!urgent.has(poll)) plan(clock.now(), urgent);
        },
        /** The rate of steady polls that `soon` plans, for which all intervals stretch as well. */
        demand: demandOf,
        leave(): void {
          demandOf(0);
          unplan();
        },
      };
    },
  };
}
