import type { ChangedOrders, FeedEvent } from '../domain/feed/feed-state.ts';
import type { Delta } from '../domain/feed/timeline.ts';
import type { Position } from '../gateway/operations/holdings.ts';
import type { EventIterator } from '../lib/event-iterator.ts';
import { builder } from './builder.ts';
import { exposed } from './exposed.ts';
import { nonNull, reads } from './field-options.ts';
import { OrderRef, PositionTotalsRef } from './holding.ts';
import { changesArgs, eventFields, positionFields, watching } from './live.ts';
import { SessionRef } from './session.ts';

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
        const { feeds, catchUp } = context.services;
        const plan = context.planOf();
        const lists = plan.has('snapshots') ? 'orders' : 'positions';
        const follows = plan.has('figures') ? 'figures' : lists;
        if (follows !== 'positions') await catchUp(proof.account);
        return feeds.watch(proof, viewer, { ...args, ticks: plan.has('ticks'), follows });
      }),
    resolve: (changes: FeedEvent) => changes,
  }),
);
