import { isDeepStrictEqual } from 'node:util';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position, Session } from '../../gateway/model.ts';
import type { SnapshotPositions } from '../../gateway/wire/session.ts';
import type {
  AccountChanges,
  AccountSummary,
  FeedStatus,
  FeedSummary,
  PositionChanges,
} from './feed-events.ts';
import { FeedView, SNAPSHOT } from './feed-view.ts';
import { type Delta, type Item, NOTHING, Timeline } from './timeline.ts';
import { type PositionTotals, totalsOf } from './totals.ts';

/** Its own methods alone change it. */
export type FeedState = Readonly<State>;

export function createFeedState(): FeedState {
  return new State();
}

/** The feed's present state: its lists, which share one version, and what its readers see of them. */
class State {
  /** The newest list received; null before the first. */
  list: PositionsAnswer | null = null;
  /** The logical time of the list that first had the present members. */
  membersTime = 0;
  /** The snapshot that is shown; null before the first. */
  session: SessionAnswer | null = null;
  /** The version that the state had when the snapshot was taken over. */
  readVersion = 0;
  status: FeedStatus = 'LIVE';
  readonly #positions = new Timeline<Position>(samePosition, sameSize);
  readonly #orders = new Timeline<Order>(isDeepStrictEqual);
  #version = 0;
  #totals: PositionTotals | null = null;
  #sessionVersion = 0;
  #ordersFetchedAt: Date | null = null;
  /** The positions alone. */
  readonly positionChanges = new FeedView<PositionChanges, FeedSummary>({
    summarize: (cursor) => this.#summary(cursor),
    compute: (version, summary) => {
      const positions = changes(this.#positions, version);
      return positions && { ...summary, snapshot: version === SNAPSHOT, ...positions };
    },
    isEmpty,
  });
  /** The positions with the orders and the figures of the account's snapshot. */
  readonly accountChanges = new FeedView<AccountChanges, AccountSummary>({
    summarize: (cursor) => ({
      ...this.#summary(cursor),
      session: this.session,
      ordersFetchedAt: this.#ordersFetchedAt,
    }),
    compute: (version, { ordersFetchedAt: fetchedAt, ...summary }) => {
      const positions = changes(this.#positions, version);
      const changed = changes(this.#orders, version);
      if (positions === null || changed === null) return null;
      const { upserted, closed } = changed;
      const orders = fetchedAt === null ? null : { upserted, closed, fetchedAt };
      return { ...summary, snapshot: version === SNAPSHOT, positions, orders };
    },
    isEmpty: ({ snapshot, positions, orders }, version) =>
      isEmpty({ snapshot, ...positions }) &&
      (orders === null || isEmpty({ snapshot, ...orders })) &&
      this.#sessionVersion <= version,
  });

  /** The same array as long as the list has not changed by members, order or values. */
  get positions(): readonly Position[] {
    return this.#positions.items;
  }

  /** As far as they are shown. */
  get orders(): readonly Order[] {
    return this.#orders.items;
  }

  takeStatus(status: FeedStatus): void {
    this.status = status;
    this.#changed();
  }

  /** Takes a list unless a newer one is shown. */
  take(list: PositionsAnswer): void {
    if (this.list !== null && list.logicalTime <= this.list.logicalTime) return;
    // Equal bytes are mapped to the same array, which needs no comparison.
    const isUnchanged = this.list?.positions === list.positions;
    this.list = list;
    const { isContent, isMembers } = isUnchanged
      ? { isContent: false, isMembers: false }
      : this.#positions.advance(list.positions, this.#version + 1);
    if (isContent) {
      this.#version += 1;
      this.#totals = null;
    }
    if (isMembers) this.membersTime = list.logicalTime;
    this.#changed();
  }

  /** Takes a snapshot of the account; returns whether an order or a figure has changed. */
  takeSession(answer: SessionAnswer): boolean {
    const { session, sentAtMs } = answer;
    const version = this.#version + 1;
    let isContent = false;
    // Without a list the orders known before stand, as of when they were known.
    if (session.orders !== null) {
      isContent = this.#orders.advance(session.orders, version).isContent;
      this.#ordersFetchedAt = new Date(sentAtMs);
    }
    if (this.session === null || !sameFigures(this.session.session, session)) {
      isContent = true;
      this.#sessionVersion = version;
    }
    if (isContent) this.#version = version;
    this.session = answer;
    this.readVersion = this.#version;
    this.#changed();
    return isContent;
  }

  #summary(cursor: string): FeedSummary {
    this.#totals ??= totalsOf(this.#positions.items);
    // The list may have been made right then, however long it was on its way.
    const asOf = new Date(this.list?.sentAtMs ?? 0);
    return { cursor, totals: this.#totals, status: this.status, asOf };
  }

  #changed(): void {
    this.positionChanges.changed(this.#version);
    this.accountChanges.changed(this.#version);
  }
}

/** Null where the version is too old. */
function changes<T extends Item>(timeline: Timeline<T>, version: number): Delta<T> | null {
  return version === SNAPSHOT ? { ...NOTHING, upserted: timeline.items } : timeline.since(version);
}

function isEmpty(event: Omit<Delta<unknown>, 'opened'> & { readonly snapshot: boolean }): boolean {
  return !event.snapshot && event.upserted.length === 0 && event.closed.length === 0;
}

type ListName = {
  [Name in keyof Session]: NonNullable<Session[Name]> extends readonly unknown[] | SnapshotPositions
    ? Name
    : never;
}[keyof Session];

/** Each list has a timeline of its own; a snapshot is compared without them. */
const NO_LISTS: Readonly<Record<ListName, null>> = { positions: null, orders: null };

function sameFigures(a: Session, b: Session): boolean {
  return isDeepStrictEqual({ ...a, ...NO_LISTS }, { ...b, ...NO_LISTS });
}

/**
 * Whether two positions are equal in every field. Fields are written out, because a loop over their names
 * would take ten times as long. Those that a moving market changes come first, so that most comparisons
 * end early. A change of a field missing here would never be emitted.
 */
export function samePosition(a: Position, b: Position): boolean {
  return (
    a === b ||
    (a.priceCurrent === b.priceCurrent &&
      a.profit === b.profit &&
      a.updatedAt === b.updatedAt &&
      a.rateProfit === b.rateProfit &&
      a.storage === b.storage &&
      a.stopLoss === b.stopLoss &&
      a.takeProfit === b.takeProfit &&
      a.units === b.units &&
      a.invested === b.invested &&
      a.rateMargin === b.rateMargin &&
      a.priceOpen === b.priceOpen &&
      a.leverage === b.leverage &&
      a.comment === b.comment &&
      a.side === b.side &&
      a.symbol === b.symbol &&
      a.name === b.name &&
      a.logo === b.logo &&
      a.delayed === b.delayed &&
      a.sharia === b.sharia &&
      a.digits === b.digits &&
      a.createdAt === b.createdAt &&
      a.id === b.id)
  );
}

/** Whether a position is as large as before: a partial close keeps the id, and changes the account's figures. */
export function sameSize(a: Position, b: Position): boolean {
  return a.units === b.units;
}
