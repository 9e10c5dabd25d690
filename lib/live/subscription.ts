import type { Clock } from '../clock.ts';
import { PullStream } from '../pull-stream.ts';
import type { LiveReader } from './readers.ts';

/** A list as one of its subscriptions uses it. */
export interface SubscribedList<Viewer, State> {
  readonly state: State & { readonly list: unknown };
  readonly ring: {
    /** Whether this token's subscriptions may get new events now; withheld events are offered again. */
    maySend(viewer: Viewer): boolean;
  };
  leave(subscription: Subscription<Viewer>): void;
}

export interface SubscriptionOptions<Viewer, State, Event> {
  readonly viewer: Viewer;
  readonly reader: LiveReader<State, Event>;
  readonly timers: Clock;
  /** The least time between two events; 0 for none. */
  readonly intervalMs: number;
  /** The longest time between two events. */
  readonly heartbeatMs: number;
  /** Called by the first pull. Null where no list is served any more. */
  readonly join: (subscription: Subscription<Viewer>) => SubscribedList<Viewer, State> | null;
  /** `merged`: how many changes, beyond one, the event stands for. */
  readonly onEvent?: ((merged: number) => void) | undefined;
}

/** One subscriber's timing; its reader computes the events. Back-pressure: no event is buffered. */
export class Subscription<Viewer, State = unknown, Event = unknown> {
  readonly options: SubscriptionOptions<Viewer, State, Event>;
  readonly events: PullStream<Event>;
  #list: SubscribedList<Viewer, State> | null = null;
  #emittedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last event. */
  #changes = 0;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | null = null;
  #cancelDeadline: (() => void) | null = null;

  constructor(options: SubscriptionOptions<Viewer, State, Event>) {
    this.options = options;
    this.events = new PullStream({
      open: () => this.#open(),
      take: () => this.#take(),
      close: () => this.#close(),
    });
  }

  /** The list's state has changed. */
  wake(): void {
    this.#changes += 1;
    this.events.wake();
  }

  /** Ends it unless there is a first list by then. */
  expectList(withinMs: number, failure: () => Error): void {
    this.#cancelDeadline ??= this.options.timers.after(withinMs, () => {
      if (this.#list?.state.list === null) this.events.end(failure());
    });
  }

  #open(): void {
    this.#list = this.options.join(this);
    if (this.#list === null) this.events.end();
  }

  #take(): Event | undefined {
    const { reader, viewer, timers, intervalMs, heartbeatMs, onEvent } = this.options;
    if (this.#list === null) return undefined;
    const { state, ring } = this.#list;
    // This needs no timer: the list wakes its subscriptions once the state may be shown.
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
    this.#list?.leave(this);
    this.#list = null;
  }
}
