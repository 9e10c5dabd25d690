import { callApp } from '../call-app.ts';
import type { Core } from '../core.ts';
import { fireAndForget } from '../fire-and-forget.ts';
import { disposedError } from '../request/failures.ts';
import { LiveFeed } from './live-feed.ts';
import type { LiveEvent, LiveSource, LiveState, LiveSum } from './live-source.ts';

export interface FollowOptions {
  /**
   * At most one change in this time, 1 to 15000 milliseconds; without it they come as the server has them. Where
   * several listen, the shortest time counts for all.
   */
  readonly intervalMs?: number | undefined;
}

/** Follows a state; the two functions are what React's `useSyncExternalStore` takes. */
export interface Followed<State> {
  /** All listeners share one subscription. Returns a function that ends it, which may be called twice. */
  (listener: (state: State) => void, options?: FollowOptions): () => void;
  /** The state as it is now; the same object until something changes. */
  state(): State;
  /** The milliseconds since its `asOf`, whatever this device's clock says; null before the first list. */
  age(): number | null;
}

interface Listening<State> {
  readonly listener: (state: State) => void;
  readonly intervalMs: number | null;
  told: State | null;
  /** Whether the feed is known to be of the listener's own user; undefined while that is asked. */
  isOwn: boolean | undefined;
}

const MAX_INTERVAL_MS = 15_000;

/** Follows a source by one feed, which is open while it has listeners. */
export function createFollowed<
  Data,
  PolledData,
  Event extends LiveEvent,
  Sum extends LiveSum,
  State extends LiveState,
>(core: Core, source: LiveSource<Data, PolledData, Event, Sum, State>): Followed<State> {
  const { environment } = core;
  const listening = new Set<Listening<State>>();
  let cancelSettling: (() => void) | null = null;
  let isDisposed = core.isDisposed;

  const feed = new LiveFeed(core, source, () => {
    for (const each of [...listening]) tell(each);
  });
  const endAccountChange = core.onAccountChange(() => feed.forget());
  core.onDispose(() => {
    isDisposed = true;
    endAccountChange();
    cancelSettling?.();
    feed.dispose(disposedError());
    listening.clear();
  });

  function tell(each: Listening<State>): void {
    const { state } = feed;
    if (each.isOwn === false) ask(each);
    if (!listening.has(each) || each.told === state || !each.isOwn) return;
    each.told = state;
    callApp(environment, () => each.listener(state));
  }

  /** Asks whose the feed is; where several users meet, the answer ends it before anything is told. */
  function ask(each: Listening<State>): void {
    each.isOwn = undefined;
    core.account().then(
      () => {
        each.isOwn = true;
        tell(each);
      },
      () => {
        each.isOwn = false;
      },
    );
  }

  // The subscription ends a macrotask later, so that a view that is mounted, unmounted and mounted again keeps it.
  function settleSoon(): void {
    if (isDisposed) return;
    cancelSettling ??= environment.after(0, () => {
      cancelSettling = null;
      if (listening.size === 0) feed.pause();
      else feed.follow(shortest([...listening].map(({ intervalMs }) => intervalMs)));
    });
  }

  function listen(listener: (state: State) => void, options: FollowOptions = {}): () => void {
    // On a server a feed that has begun may be another user's.
    const isOwn =
      !environment.isServer ||
      isDisposed ||
      (feed.isEmpty && listening.size === 0 && cancelSettling === null);
    const each: Listening<State> = { listener, intervalMs: intervalOf(options), told: null, isOwn };
    listening.add(each);
    const telling = Promise.resolve().then(() => {
      tell(each);
      if (isDisposed) listening.delete(each);
    });
    fireAndForget(telling);
    settleSoon();
    return () => {
      if (listening.delete(each)) settleSoon();
    };
  }

  return Object.assign(listen, { state: () => feed.state, age: () => feed.ageMs });
}

function intervalOf({ intervalMs }: FollowOptions): number | null {
  if (intervalMs === undefined) return null;
  if (!Number.isInteger(intervalMs) || intervalMs < 1 || intervalMs > MAX_INTERVAL_MS)
    throw new RangeError(`intervalMs is an integer from 1 to ${MAX_INTERVAL_MS}`);
  return intervalMs;
}

/** Null, which means no wait at all, is the shortest. */
function shortest(intervals: readonly (number | null)[]): number | null {
  return Math.min(...intervals.map(Number)) || null;
}
