import type { Clock } from '../../../lib/clock.ts';
import { PullStream } from '../../../lib/pull-stream.ts';
import type { Viewer } from '../auth/viewer.ts';
import { InputError } from '../input-error.ts';
import type { FeedReader } from './feed-reader.ts';
import type { FeedState } from './feed-state.ts';

const LONGEST_INTERVAL_MS = 15_000;
const SHORTEST_HEARTBEAT_SECONDS = 15;
const LONGEST_HEARTBEAT_SECONDS = 60;
export const LONGEST_HEARTBEAT_MS = LONGEST_HEARTBEAT_SECONDS * 1_000;
// A little under what is promised, which is counted at the client.
const EARLY_MS = 500;
export const SHORTEST_HEARTBEAT_MS = SHORTEST_HEARTBEAT_SECONDS * 1_000 - EARLY_MS;

/** A feed as one of its subscriptions uses it. */
export interface SubscribedFeed {
  readonly state: FeedState;
  readonly ring: {
    /** Whether this token's subscriptions may get new events now; withheld events are offered again. */
    maySend(viewer: Viewer): boolean;
  };
  leave(subscription: Subscription): void;
}

export interface SubscriptionOptions<Event> {
  readonly viewer: Viewer;
  /** Whether its events hold the account's snapshot, which the feed then has to read. */
  readonly followsAccount: boolean;
  /** The cursor to resume from. */
  readonly after: string | null;
  readonly reader: FeedReader<Event>;
  readonly timers: Clock;
  /** The least time between two events; 0 for none. */
  readonly intervalMs: number;
  /** The longest time between two events. */
  readonly heartbeatMs: number;
  /** Called by the first pull. Null where the hub is closed. */
  readonly join: (subscription: Subscription) => SubscribedFeed | null;
  /** `merged`: how many changes, beyond one, the event stands for. */
  readonly onEvent?: ((merged: number) => void) | undefined;
}

/** One subscriber's timing; its reader computes the events. Back-pressure: no event is buffered. */
export class Subscription<Event = unknown> {
  readonly options: SubscriptionOptions<Event>;
  readonly events: PullStream<Event>;
  #feed: SubscribedFeed | null = null;
  #emittedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last event. */
  #changes = 0;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | null = null;
  #cancelDeadline: (() => void) | null = null;

  constructor(options: SubscriptionOptions<Event>) {
    this.options = options;
    this.events = new PullStream({
      open: () => this.#open(),
      take: () => this.#take(),
      close: () => this.#close(),
    });
  }

  /** The feed's state has changed. */
  wake(): void {
    this.#changes += 1;
    this.events.wake();
  }

  /** Ends it unless the feed has a first list by then. */
  expectList(withinMs: number, failure: () => Error): void {
    this.#cancelDeadline ??= this.options.timers.after(withinMs, () => {
      if (this.#feed?.state.list === null) this.events.end(failure());
    });
  }

  #open(): void {
    this.#feed = this.options.join(this);
    if (this.#feed === null) this.events.end();
  }

  #take(): Event | undefined {
    const { reader, viewer, timers, intervalMs, heartbeatMs, onEvent } = this.options;
    if (this.#feed === null) return undefined;
    const { state, ring } = this.#feed;
    // Without a timer: the feed wakes its subscriptions once the state may be shown.
    if (state.list === null || reader.isWithheld?.(state)) return undefined;
    const nowMs = timers.now();
    const freeAtMs = this.#emittedAtMs + intervalMs;
    if (nowMs < freeAtMs) return this.#wakeAt(freeAtMs);
    const beatMs = Math.max(heartbeatMs, intervalMs);
    const isBeat = nowMs >= this.#emittedAtMs + beatMs;
    const event = ring.maySend(viewer) ? reader.next(state, isBeat) : reader.stale(state, isBeat);
    if (event !== undefined) {
      this.#emittedAtMs = nowMs;
      onEvent?.(Math.max(0, this.#changes - 1));
      this.#changes = 0;
    }
    this.#wakeAt(this.#emittedAtMs + beatMs);
    return event;
  }

  /** An earlier timer is kept: its wake-up is cheaper than a new timer for each event. */
  #wakeAt(dueMs: number): undefined {
    if (!Number.isFinite(dueMs) || (this.#timer && this.#timer.dueMs <= dueMs)) return;
    this.#timer?.cancel();
    const { timers } = this.options;
    const cancel = timers.after(dueMs - timers.now(), () => {
      this.#timer = null;
      this.events.wake();
    });
    this.#timer = { dueMs, cancel };
  }

  #close(): void {
    this.#cancelDeadline?.();
    this.#timer?.cancel();
    this.#timer = null;
    this.#feed?.leave(this);
    this.#feed = null;
  }
}

/** The longest time between two events that a client requests; null where it requests none. */
export function readHeartbeatMs(heartbeatSeconds: number | null | undefined): number | null {
  if (heartbeatSeconds == null) return null;
  const [shortest, longest] = [SHORTEST_HEARTBEAT_SECONDS, LONGEST_HEARTBEAT_SECONDS];
  return within('heartbeatSeconds', heartbeatSeconds, shortest, longest) * 1_000 - EARLY_MS;
}

/** The least time between two events that a client requests; 0 where it requests none. */
export function readIntervalMs(intervalMs: number | null | undefined): number {
  return intervalMs == null ? 0 : within('intervalMs', intervalMs, 1, LONGEST_INTERVAL_MS);
}

function within(argument: string, value: number, least: number, most: number): number {
  if (value >= least && value <= most) return value;
  throw new InputError(argument, `${argument} must be between ${least} and ${most}.`);
}
