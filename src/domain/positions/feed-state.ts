import { isDeepStrictEqual } from 'node:util';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position, Session } from '../../gateway/model.ts';
import type { SnapshotPositions } from '../../gateway/wire/session.ts';
import type { AccountChanges, FeedEvent, FeedStatus, PositionChanges } from './feed-events.ts';
import { FeedView, SNAPSHOT } from './feed-view.ts';
import { type Delta, type Item, NOTHING, Timeline } from './timeline.ts';
import { type PositionTotals, totalsOf } from './totals.ts';

/** Its own methods alone change it. */
export type FeedState = Readonly<State>;

/** The feed's present state: its lists, which share one version, and what its readers see of them. */
export class State {
  /** The newest list received; null before the first. */
  list: PositionsAnswer | null = null;
  /** The logical time of the list that first had the present members. */
  membersTime = 0;
  /** The snapshot that is shown; null before the first. */
  session: SessionAnswer | null = null;
  /** The version that the state had when the snapshot was taken over. */
  readVersion = 0;
  status: FeedStatus = 'LIVE';
  readonly #positions = new Timeline<Position>(samePosition, sameBesidesPrices);
  readonly #orders = new Timeline<Order>(isDeepStrictEqual);
  #version = 0;
  #totals: PositionTotals | null = null;
  #sessionVersion = 0;
  #ordersFetchedAt: Date | null = null;
  /** The positions alone. */
  readonly positionChanges = new FeedView<PositionChanges>({
    compute: (version, cursor, ticks) => {
      const positions = changes(this.#positions, version, ticks);
      return positions && { ...this.#event(cursor), snapshot: version === SNAPSHOT, ...positions };
    },
    isEmpty,
  });
  /** The positions with the orders and the figures of the account's snapshot. */
  readonly accountChanges = new FeedView<AccountChanges>({
    compute: (version, cursor, ticks) => {
      const positions = changes(this.#positions, version, ticks);
      const changed = changes(this.#orders, version, false);
      if (positions === null || changed === null) return null;
      const { upserted, closed } = changed;
      const fetchedAt = this.#ordersFetchedAt;
      const orders = fetchedAt === null ? null : { upserted, closed, fetchedAt };
      const { session } = this;
      const snapshot = version === SNAPSHOT;
      return { ...this.#event(cursor), snapshot, positions, orders, session };
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

  /** Takes a status, and a list unless a newer one is shown; returns whether the status or the positions have changed. */
  take(status: FeedStatus, list: PositionsAnswer | null): boolean {
    const { positions, status: statusBefore } = this;
    this.status = status;
    if (list !== null && list.logicalTime > (this.list?.logicalTime ?? 0)) this.#takeList(list);
    this.#changed();
    return this.positions !== positions || status !== statusBefore;
  }

  #takeList(list: PositionsAnswer): void {
    const before = this.list;
    this.list = list;
    // Equal bytes are mapped to the same array, which needs no comparison.
    if (list.positions === before?.positions) return;
    const { isContent, isMembers } = this.#positions.advance(list.positions, this.#version + 1);
    if (isContent) {
      this.#version += 1;
      this.#totals = null;
    }
    if (isMembers) this.membersTime = list.logicalTime;
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

  #event(cursor: string): FeedEvent {
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
function changes<T extends Item>(timeline: Timeline<T>, version: number, ticks: boolean) {
  return version === SNAPSHOT
    ? { ...NOTHING, upserted: timeline.items }
    : timeline.since(version, ticks);
}

function isEmpty(event: Changed & { readonly snapshot: boolean }): boolean {
  const { snapshot, upserted, ticks = [], closed } = event;
  return !snapshot && upserted.length === 0 && ticks.length === 0 && closed.length === 0;
}

type Changed = Pick<Delta<unknown>, 'upserted' | 'closed'> & Partial<Pick<Delta<unknown>, 'ticks'>>;

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
      sameBesidesPrices(a, b))
  );
}

/** Whether two positions are equal but for the fields of a tick. */
export function sameBesidesPrices(a: Position, b: Position): boolean {
  return (
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
    a.id === b.id
  );
}
