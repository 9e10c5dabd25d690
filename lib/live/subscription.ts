import { PullStream } from '../pull-stream.ts';
import type { LiveOptions, WatchOptions } from './live-options.ts';
import type { LiveReader } from './readers.ts';

export const MAX_INTERVAL_MS = 15_000;
export const MIN_HEARTBEAT_SECONDS = 15;
export const MAX_HEARTBEAT_SECONDS = 60;
// A little under what is promised, which is counted at the client.
const EARLY_MS = 500;

/** A list as one of its subscriptions uses it. */
interface SubscribedList<Viewer, State> {
  readonly state: State & { readonly list: unknown };
  readonly tokens: {
    maySend(viewer: Viewer): boolean;
    leave(subscription: Subscription<Viewer>): void;
  };
}

/** The events that are sent, to whom and how often. */
export interface Watching<Viewer, State = unknown, Event = unknown> extends WatchOptions {
  readonly viewer: Viewer;
  readonly reader: LiveReader<State, Event>;
}

/** One subscriber's timing; its reader computes the events. Back-pressure: no event is buffered. */
export class Subscription<Viewer, State = unknown, Event = unknown> {
  readonly watching: Watching<Viewer, State, Event>;
  readonly events: PullStream<Event>;
  readonly #options: LiveOptions<Viewer>;
  /** The least time between two events, and the longest. */
  readonly #intervalMs: number;
  readonly #beatMs: number;
  #list: SubscribedList<Viewer, State> | null = null;
  #emittedAtMs = Number.NEGATIVE_INFINITY;
  /** Since the last event. */
  #changes = 0;
  #timer: { readonly dueMs: number; readonly cancel: () => void } | null = null;
  #cancelDeadline: (() => void) | null = null;

  /** `join` is called by the first pull. It returns null where no list is served any more. */
  constructor(
    options: LiveOptions<Viewer>,
    watching: Watching<Viewer, State, Event>,
    join: (subscription: Subscription<Viewer>) => SubscribedList<Viewer, State> | null,
  ) {
    const { heartbeatMs = MIN_HEARTBEAT_SECONDS * 1_000 - EARLY_MS } = options;
    const { intervalMs, heartbeatSeconds } = watching;
    this.watching = watching;
    this.#options = options;
    this.#intervalMs = intervalMs ?? 0;
    const beatMs = heartbeatSeconds == null ? heartbeatMs : heartbeatSeconds * 1_000 - EARLY_MS;
    this.#beatMs = Math.max(beatMs, this.#intervalMs);
    this.events = new PullStream({
      open: () => {
        this.#list = join(this);
        if (this.#list === null) this.events.end();
      },
      take: () => this.#take(),
      missed: () => watching.reader.missed?.(),
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
    const giveUp = () => {
      if (this.#list?.state.list === null) this.events.end(failure());
    };
    // Sockets are read first: where the whole process was paused, the list may have come in time.
    this.#cancelDeadline ??= this.#options.clock.after(withinMs, () => setImmediate(giveUp));
  }

  #take(): Event | undefined {
    if (this.#list === null) return undefined;
    const { state, tokens } = this.#list;
    const { reader, viewer } = this.watching;
    // This needs no timer: the list wakes its subscriptions once the state may be shown.
    if (state.list === null || reader.isWithheld?.(state)) return undefined;
    const nowMs = this.#options.clock.now();
    const freeAtMs = this.#emittedAtMs + this.#intervalMs;
    if (nowMs < freeAtMs) return this.#wakeAt(freeAtMs);
    const isBeat = nowMs >= this.#emittedAtMs + this.#beatMs;
    const event = tokens.maySend(viewer) ? reader.next(state, isBeat) : reader.stale(state, isBeat);
    if (event !== undefined) {
      this.#emittedAtMs = nowMs;
      this.#options.onEvent?.(Math.max(0, this.#changes - 1));
      this.#changes = 0;
    }
    this.#wakeAt(this.#emittedAtMs + this.#beatMs);
    return event;
  }

  /** An earlier timer is kept: its wake-up is cheaper than a new timer for each event. */
  #wakeAt(dueMs: number): undefined {
    if (!Number.isFinite(dueMs) || (this.#timer && this.#timer.dueMs <= dueMs)) return;
    this.#timer?.cancel();
    const { clock } = this.#options;
    const cancel = clock.after(dueMs - clock.now(), () => {
      this.#timer = null;
      this.events.wake();
    });
    this.#timer = { dueMs, cancel };
  }

  #close(): void {
    this.#cancelDeadline?.();
    this.#timer?.cancel();
    this.#list?.tokens.leave(this);
    this.#list = null;
  }
}
