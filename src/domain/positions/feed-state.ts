import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../lib/clock.ts';
import { EventView } from '../../../lib/live/event-view.ts';
import { type ListChanges, ListState, type LiveEvent } from '../../../lib/live/list-state.ts';
import type { WatchOptions } from '../../../lib/live/live-options.ts';
import { ChangesReader } from '../../../lib/live/readers.ts';
import { type Delta, isEmpty, Timeline } from '../../../lib/live/timeline.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Order, Position, Session } from '../../gateway/model.ts';
import { sameBesidesPrices, samePosition } from '../../gateway/wire/holding.ts';
import { sizeOf } from '../../gateway/wire/session.ts';
import { type PositionTotals, totalsOf } from './totals.ts';

export type PositionChanges = ListChanges<Position, PositionTotals>;

export interface AccountChanges extends LiveEvent<PositionTotals> {
  readonly kind: 'account';
  readonly positions: Delta<Position>;
  /** Null until a snapshot has had a list of orders. */
  readonly orders: ChangedOrders | null;
  /** The gateway's snapshot that the orders agree with; null until op 10 has answered. */
  readonly session: SessionAnswer | null;
}

export interface ChangedOrders extends Delta<Order> {
  readonly fetchedAt: Date;
}

/** Its own methods alone change it. */
export type FeedState = Readonly<State>;

/** The positions of an account, and beside them, where they are followed, the orders and figures of its snapshot. */
export class State extends ListState<Position, PositionsAnswer, PositionTotals> {
  /** The snapshot that is shown; null before the first. */
  session: SessionAnswer | null = null;
  /** The version that the state had when the snapshot was taken over. */
  readVersion = 0;
  /** While true the account is not to be shown: what belongs together has not arrived whole. */
  isWithheld = false;
  /** The orders as far as they are shown. */
  readonly orders = new Timeline<Order>({ keyOf: ({ id }) => id, isSame: isDeepStrictEqual });
  readonly #clock: Pick<Clock, 'dateOf'>;
  #sessionVersion = 0;
  #ordersSentAtMs: number | null = null;
  readonly accountChanges = new EventView<AccountChanges>({
    compute: (version, cursor, ticks) => {
      const positions = this.timeline.changes(version, ticks);
      const changed = this.orders.changes(version, false);
      if (positions === null || changed === null) return null;
      const sentAtMs = this.#ordersSentAtMs;
      const fetchedAt = sentAtMs === null ? null : new Date(this.#clock.dateOf(sentAtMs));
      const orders = fetchedAt && { ...changed, fetchedAt };
      const { session } = this;
      return { kind: 'account', ...this.event(version, cursor), positions, orders, session };
    },
    isEmpty: ({ positions, orders }, version) =>
      isEmpty(positions) && (orders === null || isEmpty(orders)) && this.#sessionVersion <= version,
  });

  constructor(clock: Pick<Clock, 'dateOf'>) {
    super({
      keyOf: ({ id }) => id,
      isSame: samePosition,
      isSameBesides: sameBesidesPrices,
      isResized: (a, b) => sizeOf(a) !== sizeOf(b),
      rowsOf: ({ positions }) => positions,
      totalsOf,
      clock,
    });
    this.#clock = clock;
  }

  /** Takes a snapshot of the account; returns whether an order or a figure has changed. */
  takeSession(answer: SessionAnswer): boolean {
    const { session, sentAtMs } = answer;
    const version = this.version + 1;
    let isContent = false;
    // The orders known before stand where there is no list, as of when they were known.
    if (session.orders !== null) {
      isContent = this.orders.advance(session.orders, version).isContent;
      this.#ordersSentAtMs = sentAtMs;
    }
    if (!isDeepStrictEqual(figuresOf(this.session?.session), figuresOf(session))) {
      isContent = true;
      this.#sessionVersion = version;
    }
    if (isContent) this.version = version;
    this.session = answer;
    this.readVersion = this.version;
    this.changed();
    return isContent;
  }

  protected override changed(): void {
    super.changed();
    this.accountChanges.changed(this.version);
  }
}

export interface AccountOptions extends WatchOptions {
  /** Whether the session is followed, and not the orders alone. */
  readonly figures?: boolean;
}

/** Emits the changes of the whole account: its feed reads the snapshot for it. */
export class AccountReader extends ChangesReader<FeedState, AccountChanges> {
  readonly figures: boolean;

  constructor(how: AccountOptions) {
    super(({ accountChanges }) => accountChanges, how);
    this.figures = how.figures ?? false;
  }

  isWithheld({ isWithheld }: FeedState): boolean {
    return isWithheld;
  }
}

/** Each list has a timeline of its own; a snapshot is compared without them. */
function figuresOf(session: Session | undefined): Partial<Session> {
  return { ...session, positions: null, orders: null };
}
