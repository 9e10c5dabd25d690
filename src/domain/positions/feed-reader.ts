import type { Position } from '../../gateway/model.ts';
import type { FeedEvent } from './feed-events.ts';
import type { FeedState } from './feed-state.ts';
import { type FeedView, SNAPSHOT } from './feed-view.ts';

/** Computes one subscriber's events. */
export interface FeedReader<Event> {
  /** Whether nothing may be shown just now, not even again. Left out, nothing ever is withheld. */
  isWithheld?(state: FeedState): boolean;
  /** The next event, or undefined where nothing has changed. The first one is always the list. */
  next(state: FeedState): Event | undefined;
  /** The heartbeat: the present state again, which distinguishes a quiet market from a dead connection. */
  repeat(state: FeedState): Event;
  /** The last event again, marked as delayed; undefined before the first. */
  stale(): Event | undefined;
  /** Whether the last event said `LIVE` while the feed is delayed. Left out, no event says either. */
  isOutdated?(state: FeedState): boolean;
}

/** Emits a snapshot and then deltas, or deltas from the start where `after` is a cursor of the feed. */
export class ChangesReader<Event extends FeedEvent> implements FeedReader<Event> {
  readonly #viewOf: (state: FeedState) => FeedView<Event>;
  readonly #after: string | null;
  #version = SNAPSHOT;
  /** The last event without its changes, so that no reader keeps lists. */
  #last: Event | null = null;

  constructor(viewOf: (state: FeedState) => FeedView<Event>, after: string | null) {
    this.#viewOf = viewOf;
    this.#after = after;
  }

  isWithheld(state: FeedState): boolean {
    return this.#viewOf(state).isWithheld;
  }

  next(state: FeedState): Event | undefined {
    const view = this.#viewOf(state);
    if (this.#last === null) {
      this.#version = view.versionOf(this.#after) ?? SNAPSHOT;
      return this.repeat(state);
    }
    const isSameStatus = this.#last.status === state.status;
    if (this.#version === view.version && isSameStatus) return undefined;
    if (isSameStatus && view.isEmptySince(this.#version)) {
      // A position opened and closed between two reads: there is no event, and the next delta starts here.
      this.#version = view.version;
      return undefined;
    }
    return this.repeat(state);
  }

  repeat(state: FeedState): Event {
    const view = this.#viewOf(state);
    const event = view.since(this.#version);
    this.#version = view.version;
    this.#last = view.since(this.#version);
    return event;
  }

  stale(): Event | undefined {
    if (this.#last === null) return undefined;
    this.#last = { ...this.#last, status: 'DELAYED' };
    return this.#last;
  }

  isOutdated(state: FeedState): boolean {
    return this.#last?.status === 'LIVE' && state.status === 'DELAYED';
  }
}

/** Emits the whole list, in the gateway's order, whenever it has changed. */
export class ListReader implements FeedReader<readonly Position[]> {
  #lastSent: readonly Position[] | undefined;

  next(state: FeedState): readonly Position[] | undefined {
    return this.#lastSent === state.positions ? undefined : this.repeat(state);
  }

  repeat(state: FeedState): readonly Position[] {
    this.#lastSent = state.positions;
    return this.#lastSent;
  }

  stale(): readonly Position[] | undefined {
    return this.#lastSent;
  }
}
