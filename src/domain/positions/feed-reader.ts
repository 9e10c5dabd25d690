import type { Position } from '../../gateway/model.ts';
import type { FeedEvent } from './feed-events.ts';
import type { FeedState } from './feed-state.ts';
import { type FeedView, SNAPSHOT } from './feed-view.ts';

/**
 * Computes one subscriber's events. `isBeat`: one is due although nothing has changed, which distinguishes a quiet market from a
 * dead connection.
 */
export interface FeedReader<Event> {
  /** Whether nothing may be shown just now, not even again. Left out, nothing ever is withheld. */
  isWithheld?(state: FeedState): boolean;
  /** The next event, or undefined where nothing has changed. The first one is always the list. */
  next(state: FeedState, isBeat: boolean): Event | undefined;
  /** The last event again, marked as delayed, where one is due or the feed has become delayed since; undefined before the first. */
  stale(state: FeedState, isBeat: boolean): Event | undefined;
}

/** Emits a snapshot and then deltas, or deltas from the start where `after` is a cursor of the feed. */
export class ChangesReader<Event extends FeedEvent> implements FeedReader<Event> {
  readonly #viewOf: (state: FeedState) => FeedView<Event>;
  readonly #after: string | null;
  readonly #ticks: boolean;
  #version = SNAPSHOT;
  /** The last event without its changes, so that no reader keeps lists. */
  #last: Event | null = null;

  /** `ticks`: whether rows of which only moving fields have changed are told apart. */
  constructor(
    viewOf: (state: FeedState) => FeedView<Event>,
    {
      after,
      ticks = false,
    }: { readonly after?: string | null | undefined; readonly ticks?: boolean },
  ) {
    this.#viewOf = viewOf;
    this.#after = after ?? null;
    this.#ticks = ticks;
  }

  isWithheld(state: FeedState): boolean {
    return this.#viewOf(state).isWithheld;
  }

  next(state: FeedState, isBeat: boolean): Event | undefined {
    const view = this.#viewOf(state);
    if (this.#last === null) this.#version = view.versionOf(this.#after) ?? SNAPSHOT;
    else if (
      !isBeat &&
      this.#last.status === state.status &&
      view.isEmptySince(this.#version, this.#ticks)
    ) {
      // A position may have opened and closed between two reads: the next delta starts here.
      this.#version = view.version;
      return undefined;
    }
    const event = view.since(this.#version, this.#ticks);
    this.#version = view.version;
    this.#last = view.since(this.#version, this.#ticks);
    return event;
  }

  stale({ status }: FeedState, isBeat: boolean): Event | undefined {
    const isOutdated = this.#last?.status === 'LIVE' && status === 'DELAYED';
    if (this.#last === null || !(isBeat || isOutdated)) return undefined;
    this.#last = { ...this.#last, status: 'DELAYED' };
    return this.#last;
  }
}

/** Emits the whole list, in the gateway's order, whenever it has changed. */
export class ListReader implements FeedReader<readonly Position[]> {
  #lastSent: readonly Position[] | undefined;

  next({ positions }: FeedState, isBeat: boolean): readonly Position[] | undefined {
    if (!isBeat && this.#lastSent === positions) return undefined;
    this.#lastSent = positions;
    return positions;
  }

  stale(_state: FeedState, isBeat: boolean): readonly Position[] | undefined {
    return isBeat ? this.#lastSent : undefined;
  }
}
