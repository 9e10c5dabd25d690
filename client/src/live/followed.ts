import { callApp } from '../call-app.ts';
import type { Core } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { disposedError } from '../request/failures.ts';
import { Age } from './age.ts';
import { ListPolling } from './list-polling.ts';
import { LiveFeed } from './live-feed.ts';
import type { LiveEvent, LiveState, LiveSum, PolledSource } from './live-source.ts';

export interface FollowOptions {
  /**
   * At most one change in this time, 1 to 15000 milliseconds; by default each change is reported. With several listeners
   * the shortest time counts for all.
   */
  readonly intervalMs?: number | undefined;
}

/** Follows a state. It can be passed to React's `useSyncExternalStore`, with `state` as the snapshot. */
export interface Followed<State> {
  /** All listeners share one subscription. Returns a function that removes the listener, which may be called twice. */
  (listener: (state: State) => void, options?: FollowOptions): () => void;
  /** The state as it is now; the same object until something changes. */
  state(): State;
  /** The milliseconds since the state's `asOf`, independent of this device's clock; null before the first list. */
  age(): number | null;
}

/** A listener with its options. */
interface Registration<State> {
  readonly listener: (state: State) => void;
  readonly intervalMs: number | null;
  /** The state with which the listener was last called. */
  last: State | null;
  /** Whether the feed belongs to the listener's own user; undefined while the server is asked. */
  isOwn: boolean | undefined;
}

const MAX_INTERVAL_MS = 15_000;

/** Follows a source with one feed, which is open while there are listeners. */
export function createFollowed<
  Data,
  PolledData,
  Event extends LiveEvent,
  Sum extends LiveSum,
  State extends LiveState,
>(core: Core, source: PolledSource<Data, PolledData, Event, Sum, State>): Followed<State> {
  const age = new Age(core);
  const audience = new Audience<State>(core, (onChanged) => {
    const polling = new ListPolling(core, source.query, ({ data, errors }, sentAt) => {
      const list = data === null ? null : source.polled(feed.folded, data, sentAt);
      feed.receivePolled(list, errors[0]);
    });
    const onConfirmed = (asOf: Date | null) => age.confirm(asOf);
    const feed = new LiveFeed(core, source, { onChanged, onConfirmed, polling });
    return feed;
  });
  const { state, listen } = audience;
  return Object.assign(listen, { state, age: () => age.ms(audience.isCurrent) });
}

interface Feed<State> {
  readonly state: State;
  readonly isCurrent: boolean;
  readonly folded: unknown;
  follow(intervalMs: number | null): void;
  pause(): void;
  forget(): void;
  dispose(error: TradingGraphError): void;
}

/** The listeners of one feed. */
class Audience<State> {
  readonly #core: Core;
  readonly #feed: Feed<State>;
  readonly #listening = new Set<Registration<State>>();
  #cancelSettling: (() => void) | null = null;
  #isDisposed: boolean;

  constructor(core: Core, open: (onChanged: () => void) => Feed<State>) {
    this.#core = core;
    this.#isDisposed = core.isDisposed;
    this.#feed = open(() => {
      for (const each of [...this.#listening]) this.#notify(each);
    });
    const endAccountChange = core.onAccountChange(() => this.#feed.forget());
    core.onDispose(() => {
      this.#isDisposed = true;
      endAccountChange();
      this.#cancelSettling?.();
      this.#feed.dispose(disposedError());
      this.#listening.clear();
    });
  }

  readonly state = (): State => this.#feed.state;

  get isCurrent(): boolean {
    return this.#feed.isCurrent;
  }

  readonly listen = (
    listener: (state: State) => void,
    options: FollowOptions = {},
  ): (() => void) => {
    const isFeedUnused =
      this.#feed.folded === null && this.#listening.size === 0 && this.#cancelSettling === null;
    // On a server a feed that has begun may belong to another user.
    const isOwn = !this.#core.environment.isServer || this.#isDisposed || isFeedUnused;
    const intervalMs = intervalOf(options);
    const own: Registration<State> = { listener, intervalMs, last: null, isOwn };
    this.#listening.add(own);
    const called = Promise.resolve().then(() => {
      this.#notify(own);
      if (this.#isDisposed) this.#listening.delete(own);
    });
    fireAndForget(called);
    this.#settleSoon();
    return () => {
      if (this.#listening.delete(own)) this.#settleSoon();
    };
  };

  #notify(each: Registration<State>): void {
    const { state } = this.#feed;
    if (each.isOwn === false) this.#ask(each);
    if (!this.#listening.has(each) || each.last === state || !each.isOwn) return;
    each.last = state;
    callApp(this.#core.environment, () => each.listener(state));
  }

  /** Asks the server for the account. If the client has several users, this ends the feed before a listener is called. */
  #ask(each: Registration<State>): void {
    each.isOwn = undefined;
    this.#core.account().then(
      () => {
        each.isOwn = true;
        this.#notify(each);
      },
      () => {
        each.isOwn = false;
      },
    );
  }

  /** Follows or pauses in a later task, so that a view that is unmounted and mounted again keeps its subscription. */
  #settleSoon(): void {
    if (this.#isDisposed) return;
    this.#cancelSettling ??= this.#core.environment.after(0, () => {
      this.#cancelSettling = null;
      const intervals = [...this.#listening].map(({ intervalMs }) => intervalMs);
      if (intervals.length === 0) this.#feed.pause();
      else this.#feed.follow(shortest(intervals));
    });
  }
}

function intervalOf({ intervalMs }: FollowOptions): number | null {
  if (intervalMs === undefined) return null;
  if (!Number.isInteger(intervalMs) || intervalMs < 1 || intervalMs > MAX_INTERVAL_MS)
    throw new RangeError(`intervalMs is an integer from 1 to ${MAX_INTERVAL_MS}`);
  return intervalMs;
}

/** Null, no wait, is the shortest interval: it counts as zero. */
function shortest(intervals: readonly (number | null)[]): number | null {
  return Math.min(...intervals.map(Number)) || null;
}
