import { isDeepStrictEqual } from 'node:util';
import type { AccountProof } from '../domain/auth/proof.ts';
import { tokenEndBehind } from '../domain/auth/token-errors.ts';
import type { Viewer } from '../domain/auth/viewer.ts';
import type { ChangedOrders, FeedEvent } from '../domain/feed/feed-state.ts';
import type { Identified, ListEvent } from '../domain/feed/list-state.ts';
import { checkTimes, type WatchOptions } from '../domain/feed/subscription.ts';
import type { Delta } from '../domain/feed/timeline.ts';
import type { Caller } from '../gateway/exchange.ts';
import type { Position } from '../gateway/operations/holdings.ts';
import type { EventIterator } from '../lib/event-iterator.ts';
import { builder, exposed, type FieldBuilder, nonNull, type RefOf, reads } from './builder.ts';
import type { Context } from './context.ts';
import { OrderRef, PositionRef, PositionTotalsRef } from './holding.ts';
import type { Services } from './scope.ts';
import { SessionRef } from './session.ts';

builder.subscriptionType({ description: 'Live lists, over WebSocket or as an event stream.' });

const FeedStatus = builder.enumType('FeedStatus', {
  description: 'Whether a live list follows the gateway.',
  values: {
    LIVE: { description: 'The gateway confirmed the list at the last poll.' },
    DELAYED: {
      description:
        'The gateway does not answer at the moment, or its answers break its interface. The list is unchanged since `asOf`.',
    },
  },
});

const PositionTickRef = builder.objectRef<Position>('PositionTick').implement({
  description: 'The present values of a position’s fields that change with the market.',
  fields: (t) =>
    exposed(t, {
      'ID!': { id: 'The gateway’s number of the position.' },
      Float: {
        priceCurrent: 'The price now.',
        profit: 'Its profit or loss now.',
        rateProfit: 'The rate that converts its profit into the account’s currency.',
      },
      DateTime: { updatedAt: 'When the position last changed.' },
    }),
});

/** Options of the field `ticks`. A subscription that selects the field receives ticks separately from rows. */
const ofTicks = {
  ...reads('ticks'),
  nullable: false,
  description:
    'Positions of which only these fields have changed since your last event. If you select this field, `upserted` does not have these positions. A snapshot has no ticks.',
} as const;

function eventFields<Event extends ListEvent<unknown>>(builderOfEvent: FieldBuilder<Event>) {
  // The common fields of the events of all live lists.
  const t = builderOfEvent as unknown as FieldBuilder<ListEvent<unknown>>;
  return {
    ...exposed(t, {
      'String!': { cursor: 'Identifies the state after this event. Send it as the next `after`.' },
      'Boolean!': {
        snapshot: 'Whether each `upserted` is a whole list. If so, discard the client’s copy.',
      },
      'DateTime!': { asOf: 'The start of the last read that confirmed the list.' },
    }),
    status: t.expose('status', {
      ...nonNull('Whether the list follows its source.'),
      type: FeedStatus,
    }),
  };
}

function positionFields(t: FieldBuilder<Delta<Position>>) {
  return {
    ...exposed(t, {
      '[ID!]!': {
        opened: 'Ids of positions that were opened.',
        closed: 'Ids of positions that are no longer open.',
      },
    }),
    upserted: t.expose('upserted', {
      ...nonNull('Positions that are new or have changed; on a snapshot all positions.'),
      type: [PositionRef],
    }),
    ticks: t.expose('ticks', { ...ofTicks, type: [PositionTickRef] }),
  };
}

const PositionChangesRef = builder.objectRef<FeedEvent>('PositionChanges').implement({
  description: 'The changes from the client’s list to the present one.',
  fields: (t) => ({
    ...eventFields(t),
    ...positionFields(t),
    totals: t.expose('totals', {
      ...nonNull('Sums over the present list.'),
      type: PositionTotalsRef,
    }),
  }),
});

const watchArgs = builder.args((t) => ({
  intervalMs: t.int({
    description:
      'The minimum time between events, 1 to 15000 milliseconds. Changes within it are merged.',
  }),
  heartbeatSeconds: t.int({
    description:
      'The maximum time between events, 15 (the default) to 60 seconds. Treat the connection as lost ten seconds later.',
  }),
}));

const changesArgs = {
  ...watchArgs,
  ...builder.args((t) => ({
    after: t.string({
      description:
        'The cursor of the client’s last event. The subscription continues without a gap, or with a new snapshot if the cursor is unknown.',
    }),
  })),
};

builder.subscriptionFields((t) => ({
  positions: t.field({
    type: [PositionRef],
    nullable: false,
    description:
      'The open positions: the whole list immediately, then again whenever it has changed.',
    args: watchArgs,
    subscribe: async (_root, args, context): Promise<EventIterator<FeedEvent>> =>
      watching(context, args, (proof, viewer) =>
        context.services.openPositions.watch(proof, viewer, { ...args, follows: 'list' }),
      ),
    resolve: ({ upserted }: FeedEvent) => upserted,
  }),
  positionChanges: t.field({
    type: PositionChangesRef,
    nullable: false,
    description:
      'The open positions as a snapshot, then their changes. An event arrives at least every `heartbeatSeconds`, even if nothing has changed.',
    args: changesArgs,
    subscribe: async (_root, args, context): Promise<EventIterator<FeedEvent>> =>
      watching(context, args, (proof, viewer) => {
        const options = { ...args, ticks: context.planOf().has('ticks') };
        return context.services.openPositions.watch(proof, viewer, options);
      }),
    resolve: (changes: FeedEvent) => changes,
  }),
}));

async function watching<Stream>(
  { scope, services }: Context,
  times: WatchOptions,
  watch: (proof: AccountProof, viewer: Viewer) => Stream | Promise<Stream>,
): Promise<Stream> {
  checkTimes(times);
  try {
    const viewer = await scope.viewer();
    return await watch(await services.prover.account(viewer), viewer);
  } catch (error) {
    // A request without a token cannot renew its token, so its error is thrown unchanged.
    if (scope.caller.token === null) throw error;
    throw tokenEndBehind(error) ?? error;
  }
}

/** Traits of fields for which the feed reads op 10 as well as op 12. For figures it reads op 10 more often. */
const ofSnapshots = reads('snapshots');
const ofFigures = reads('figures');

const ChangedPositionsRef = builder.objectRef<Delta<Position>>('ChangedPositions').implement({
  description: 'The changes from the client’s list of positions to the present one.',
  fields: positionFields,
});

const ChangedOrdersRef = builder.objectRef<ChangedOrders>('ChangedOrders').implement({
  description: 'The changes from the client’s list of pending orders to the present one.',
  fields: (t) => ({
    upserted: t.expose('upserted', {
      ...nonNull('Orders that are new or have changed; on a snapshot all orders.'),
      type: [OrderRef],
    }),
    ...exposed(t, {
      '[ID!]!': {
        closed: 'Ids of orders that are no longer pending: triggered, cancelled or expired.',
      },
      'DateTime!': { fetchedAt: 'When this list was requested from the gateway. It is not older.' },
    }),
  }),
});

const AccountChangesRef = builder.objectRef<FeedEvent>('AccountChanges').implement({
  description: 'The changes of the account since your last event.',
  fields: (t) => ({
    ...eventFields(t),
    positions: t.field({
      ...nonNull('The open positions.'),
      type: ChangedPositionsRef,
      resolve: (changes) => changes,
    }),
    orders: t.expose('orders', {
      ...ofSnapshots,
      type: ChangedOrdersRef,
      nullable: true,
      description:
        'The pending orders. An order that became a position is removed by the first event after the next read of the orders. Null until the gateway has sent orders.',
    }),
    session: t.expose('session', {
      ...ofFigures,
      type: SessionRef,
      nullable: true,
      description:
        'The gateway’s figures as of `fetchedAt`. They are read at every fifth poll, when positions open or close, and after the viewer’s own orders. Null until the gateway has sent figures.',
    }),
    totals: t.expose('totals', {
      ...nonNull('Sums over the present positions.'),
      type: PositionTotalsRef,
    }),
  }),
});

builder.subscriptionField('accountChanges', (t) =>
  t.field({
    type: AccountChangesRef,
    nullable: false,
    description:
      'The whole account as a snapshot, then its changes: open positions, pending orders and the figures of the session. An event arrives at least every `heartbeatSeconds`. If you select neither `orders` nor `session`, it costs the gateway as many calls as `positionChanges`.',
    args: changesArgs,
    subscribe: async (_root, args, context): Promise<EventIterator<FeedEvent>> =>
      watching(context, args, async (proof, viewer): Promise<EventIterator<FeedEvent>> => {
        const { openPositions, catchUp } = context.services;
        const plan = context.planOf();
        const lists = plan.has('snapshots') ? 'orders' : 'positions';
        const follows = plan.has('figures') ? 'figures' : lists;
        if (follows !== 'positions') await catchUp(proof);
        return openPositions.watch(proof, viewer, { ...args, ticks: plan.has('ticks'), follows });
      }),
    resolve: (changes: FeedEvent) => changes,
  }),
);

/** A live list of another service: its read, its rows, and how they are compared. */
interface LiveList<Row extends Identified> {
  readonly type: string;
  readonly description: string;
  readonly row: RefOf<Row>;
  /** One poll of an account's list. Rows are told apart by their `id`. */
  readonly read: (
    services: Services,
    account: AccountProof,
    caller: Caller,
  ) => Promise<readonly Row[]>;
  readonly isSame?: (a: Row, b: Row) => boolean;
}

/**
 * Adds a subscription field that follows a list of another service as `positionChanges` follows the positions: polls that
 * all devices of an account share, a cursor, a heartbeat, `LIVE` and `DELAYED`, back-off, and the end of the token.
 */
export function liveList<Row extends Identified>(field: string, list: LiveList<Row>): void {
  const { type, description, row, read, isSame = isDeepStrictEqual } = list;
  const ChangesRef = builder.objectRef<ListEvent<Row>>(type).implement({
    description: 'The changes from the client’s list to the present one.',
    fields: (t) => ({
      ...eventFields(t),
      ...exposed<ListEvent<Identified>>(t, {
        '[ID!]!': { opened: 'Ids of rows that are new.', closed: 'Ids of rows that are gone.' },
      }),
      upserted: t.field({
        ...nonNull('Rows that are new or have changed; on a snapshot all rows.'),
        type: [row],
        resolve: ({ upserted }) => upserted,
      }),
    }),
  });
  builder.subscriptionField(field, (t) =>
    t.field({
      ...nonNull(description),
      type: ChangesRef,
      args: changesArgs,
      subscribe: async (_root, args, context): Promise<EventIterator<ListEvent<Row>>> =>
        watching(context, args, (proof, viewer) => {
          const { services } = context;
          const feeds = services.ownLists.of<Row>({
            name: field,
            isSame,
            read: (account, caller) => read(services, account, caller),
          });
          return feeds.watch(proof, viewer, args);
        }),
      resolve: (changes: ListEvent<Row>) => changes,
    }),
  );
}
