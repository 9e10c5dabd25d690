import type { FeedStatus, FeedView, ListEvent } from './list-state.ts';
import { SNAPSHOT } from './timeline.ts';
import type { WatchOptions } from './watch-options.ts';

/** The state of a feed as readers use it. */
export interface ReadState<Event> {
  readonly list: unknown;
  readonly status: FeedStatus;
  readonly version: number;
  readonly rows: readonly unknown[];
  versionOf(view: FeedView, cursor: string | null): number | null;
  since(view: FeedView, version: number, ticks: boolean): Event;
  isEmpty(event: Event, version: number): boolean;
}

/** Computes one subscription's events: the changes since its last event, or each time the whole list. */
export class EventReader<Event extends ListEvent<unknown>> {
  readonly #view: FeedView;
  readonly #after: string | null;
  readonly #ticks: boolean;
  /** Whether each event has the whole list. */
  readonly #isWhole: boolean;
  #version = SNAPSHOT;
  #versionBefore = SNAPSHOT;
  /** The last event. A reader of changes keeps an event without rows instead, so that it keeps no lists. */
  #last: Event | null = null;

  constructor({ after, ticks = false, follows = 'positions' }: WatchOptions) {
    this.#isWhole = follows === 'list';
    this.#view = follows === 'orders' || follows === 'figures' ? 'account' : 'list';
    this.#after = after ?? null;
    this.#ticks = ticks;
  }

  /**
   * The next event; undefined if nothing has changed and no heartbeat is due (`isBeat`). The first event is a snapshot, or
   * the changes since a cursor of the feed.
   */
  next(state: ReadState<Event>, isBeat: boolean): Event | undefined {
    if (this.#last === null) this.#version = state.versionOf(this.#view, this.#after) ?? SNAPSHOT;
    const before = this.#version;
    const event = state.since(this.#view, this.#isWhole ? SNAPSHOT : before, this.#ticks);
    const isSame = this.#isWhole
      ? this.#last?.upserted === state.rows
      : state.isEmpty(event, before) && this.#last?.status === state.status;
    this.#versionBefore = before;
    // The version advances after an empty event too: a position may have opened and closed between two reads.
    this.#version = state.version;
    if (isSame && !isBeat) return undefined;
    this.#last = this.#isWhole ? event : state.since(this.#view, this.#version, this.#ticks);
    return event;
  }

  /** Repeats the last event, marked as delayed, for a token without proof; undefined before the first event. */
  stale({ status }: ReadState<Event>, isBeat: boolean): Event | undefined {
    const isOutdated = this.#last?.status === 'LIVE' && status === 'DELAYED';
    if (this.#last === null || !(isBeat || isOutdated)) return undefined;
    this.#last = { ...this.#last, status: 'DELAYED' };
    return this.#last;
  }

  /** Called if the last event was not sent. The next event includes its changes. */
  missed(): void {
    this.#version = this.#versionBefore;
    if (this.#isWhole) this.#last = null;
  }
}
