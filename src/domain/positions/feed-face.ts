import type { Position } from '../../gateway/model.ts';
import { Cursors } from './cursors.ts';
import type { PositionList } from './positions-board.ts';
import { Timeline } from './timeline.ts';
import type { PositionTotals } from './totals.ts';

export type FeedStatus = 'LIVE' | 'DELAYED';

/** One event of the changes: a whole list, or what turns the list last told into the present one. */
export interface PositionChanges {
  readonly cursor: string;
  readonly snapshot: boolean;
  readonly upserted: readonly Position[];
  readonly opened: readonly string[];
  readonly closed: readonly string[];
  readonly totals: PositionTotals;
  readonly status: FeedStatus;
  /** When the gateway last confirmed the list. */
  readonly asOf: Date;
}

const SNAPSHOT = 0;

/**
 * What a feed shows at this moment. All readers who stand at the same version are given the very
 * same event object, so that it is computed once, and can be serialised once.
 */
export class FeedFace {
  readonly #timeline = new Timeline();
  readonly #cursors = new Cursors();
  readonly #events = new Map<number, PositionChanges>();
  #list: PositionList | null = null;
  #asOf = new Date(0);
  #status: FeedStatus = 'LIVE';
  #cursor: { readonly version: number; readonly text: string } | null = null;

  /** The newest list taken; null before the first. */
  get list(): PositionList | null {
    return this.#list;
  }

  get positions(): readonly Position[] {
    return this.#timeline.positions;
  }

  get version(): number {
    return this.#timeline.version;
  }

  get arrangement(): number {
    return this.#timeline.arrangement;
  }

  get status(): FeedStatus {
    return this.#status;
  }

  get asOf(): Date {
    return this.#asOf;
  }

  set status(status: FeedStatus) {
    if (status === this.#status) return;
    this.#status = status;
    this.#events.clear();
  }

  /** Takes a list unless a newer one is shown; says whether positions came or went. */
  take(list: PositionList): boolean {
    if (this.#list !== null && list.sequence <= this.#list.sequence) return false;
    // Equal bytes come as the same array, which needs no comparison.
    const isUnchanged = this.#list?.positions === list.positions;
    this.#list = list;
    this.#asOf = new Date(Math.max(this.#asOf.getTime(), list.receivedAtMs));
    this.#events.clear();
    return isUnchanged ? false : this.#timeline.advance(list.positions);
  }

  /** The version a client's cursor stands for; null where it is not one of this feed's. */
  versionOf(cursor: string): number | null {
    return this.#cursors.read(cursor);
  }

  /** The changes since a version; the whole list where there is none, or it is too long ago. */
  changesSince(version: number | null): PositionChanges {
    const from = version ?? SNAPSHOT;
    let event = this.#events.get(from);
    if (event === undefined) {
      event = this.#compute(from);
      this.#events.set(from, event);
    }
    return event;
  }

  #compute(version: number): PositionChanges {
    const delta = this.#timeline.since(version);
    if (delta === null && version !== SNAPSHOT) return this.changesSince(null);
    return {
      cursor: this.#present(),
      snapshot: delta === null,
      upserted: delta?.upserted ?? this.#timeline.positions,
      opened: delta?.opened ?? [],
      closed: delta?.closed ?? [],
      totals: this.#timeline.totals,
      status: this.#status,
      asOf: this.#asOf,
    };
  }

  #present(): string {
    const { version } = this.#timeline;
    if (this.#cursor?.version !== version) {
      this.#cursor = { version, text: this.#cursors.write(version) };
    }
    return this.#cursor.text;
  }
}
