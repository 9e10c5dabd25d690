import type { Position } from '../../gateway/model.ts';
import type { FeedState, FeedSummary, PositionChanges } from './feed-state.ts';

/** What one subscriber was told last, which is all that is kept of it. */
export interface FeedReader<Event> {
  /** Undefined where there is nothing new to tell. The first call always tells the list. */
  news(face: FeedState): Event | undefined;
  /** The present state said again: a quiet market, not a dead line. */
  repeat(face: FeedState): Event;
  /** What was told last, said again as no longer sure; undefined where nothing was told. */
  stale(): Event | undefined;
  /** Whether what was told last looks surer than the feed is. */
  looksTooSure(face: FeedState): boolean;
}

/** Reads a snapshot and then deltas, or deltas at once where `after` is a cursor of the feed. */
export class ChangesReader implements FeedReader<PositionChanges> {
  #after: string | null;
  #version: number | null = null;
  #told: FeedSummary | null = null;

  constructor(after: string | null) {
    this.#after = after;
  }

  news(face: FeedState): PositionChanges | undefined {
    if (this.#told === null) return this.#first(face);
    if (this.#version === face.version && this.#told.status === face.status) return undefined;
    const event = face.changesSince(this.#version);
    if (event.status === this.#told.status && isEmpty(event)) {
      // A position came and went unread: nothing to tell, and no need to look that far back again.
      this.#version = face.version;
      return undefined;
    }
    return this.#tell(face, event);
  }

  repeat(face: FeedState): PositionChanges {
    return this.#tell(face, face.changesSince(this.#version));
  }

  stale(): PositionChanges | undefined {
    if (this.#told === null) return undefined;
    const { cursor, totals, asOf } = this.#told;
    this.#told = { cursor, totals, asOf, status: 'DELAYED' };
    return { ...this.#told, snapshot: false, upserted: [], opened: [], closed: [] };
  }

  looksTooSure(face: FeedState): boolean {
    return this.#told?.status === 'LIVE' && face.status === 'DELAYED';
  }

  #first(face: FeedState): PositionChanges {
    if (this.#after !== null) this.#version = face.versionOf(this.#after);
    this.#after = null;
    return this.#tell(face, face.changesSince(this.#version));
  }

  #tell(face: FeedState, event: PositionChanges): PositionChanges {
    this.#version = face.version;
    this.#told = face.state;
    return event;
  }
}

/** Reads the whole list, in the gateway's order, whenever it has changed. */
export class ListReader implements FeedReader<readonly Position[]> {
  #arrangement: number | null = null;
  #told: readonly Position[] | undefined;

  news(face: FeedState): readonly Position[] | undefined {
    return this.#arrangement === face.arrangement ? undefined : this.repeat(face);
  }

  repeat(face: FeedState): readonly Position[] {
    this.#arrangement = face.arrangement;
    this.#told = face.positions;
    return this.#told;
  }

  stale(): readonly Position[] | undefined {
    return this.#told;
  }

  looksTooSure(): boolean {
    return false;
  }
}

function isEmpty({ snapshot, upserted, closed }: PositionChanges): boolean {
  return !snapshot && upserted.length === 0 && closed.length === 0;
}
