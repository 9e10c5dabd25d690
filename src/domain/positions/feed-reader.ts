import type { Position } from '../../gateway/model.ts';
import type { FeedState, FeedSummary, PositionChanges } from './feed-state.ts';

/** Computes one subscriber's events. It keeps only the last one's summary. */
export interface FeedReader<Event> {
  /** The next event, or undefined where nothing has changed. The first one is always the list. */
  next(state: FeedState): Event | undefined;
  /** The heartbeat: the present state again, which distinguishes a quiet market from a dead connection. */
  repeat(state: FeedState): Event;
  /** The last event again, marked as delayed; undefined before the first. */
  stale(): Event | undefined;
  /** Whether the last event said `LIVE` while the feed is delayed. */
  isOutdated(state: FeedState): boolean;
}

/** Emits a snapshot and then deltas, or deltas from the start where `after` is a cursor of the feed. */
export class ChangesReader implements FeedReader<PositionChanges> {
  #after: string | null;
  #version: number | null = null;
  #lastSent: FeedSummary | null = null;

  constructor(after: string | null) {
    this.#after = after;
  }

  next(state: FeedState): PositionChanges | undefined {
    if (this.#lastSent === null) return this.#first(state);
    if (this.#version === state.version && this.#lastSent.status === state.status) return undefined;
    const event = state.changesSince(this.#version);
    if (event.status === this.#lastSent.status && isEmpty(event)) {
      // A position opened and closed between two reads: there is no event, and the next delta starts here.
      this.#version = state.version;
      return undefined;
    }
    return this.#emit(state, event);
  }

  repeat(state: FeedState): PositionChanges {
    return this.#emit(state, state.changesSince(this.#version));
  }

  stale(): PositionChanges | undefined {
    if (this.#lastSent === null) return undefined;
    const { cursor, totals, asOf } = this.#lastSent;
    this.#lastSent = { cursor, totals, asOf, status: 'DELAYED' };
    return { ...this.#lastSent, snapshot: false, upserted: [], opened: [], closed: [] };
  }

  isOutdated(state: FeedState): boolean {
    return this.#lastSent?.status === 'LIVE' && state.status === 'DELAYED';
  }

  #first(state: FeedState): PositionChanges {
    if (this.#after !== null) this.#version = state.versionOf(this.#after);
    this.#after = null;
    return this.#emit(state, state.changesSince(this.#version));
  }

  #emit(state: FeedState, event: PositionChanges): PositionChanges {
    this.#version = state.version;
    this.#lastSent = state.summary;
    return event;
  }
}

/** Emits the whole list, in the gateway's order, whenever it has changed. */
export class ListReader implements FeedReader<readonly Position[]> {
  #arrangement: number | null = null;
  #lastSent: readonly Position[] | undefined;

  next(state: FeedState): readonly Position[] | undefined {
    return this.#arrangement === state.arrangement ? undefined : this.repeat(state);
  }

  repeat(state: FeedState): readonly Position[] {
    this.#arrangement = state.arrangement;
    this.#lastSent = state.positions;
    return this.#lastSent;
  }

  stale(): readonly Position[] | undefined {
    return this.#lastSent;
  }

  isOutdated(): boolean {
    return false;
  }
}

function isEmpty({ snapshot, upserted, closed }: PositionChanges): boolean {
  return !snapshot && upserted.length === 0 && closed.length === 0;
}
