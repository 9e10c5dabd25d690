import type { ChangedOrders, FeedEvent } from '../domain/feed/feed-state.ts';
import type { Delta } from '../domain/feed/timeline.ts';
import type { Position } from '../gateway/operations/holdings.ts';
import { traits } from '../lib/field-traits.ts';
import type { PullStream } from '../lib/pull-stream.ts';
import { reads } from './account-read.ts';
import { builder } from './builder.ts';
import { exposed } from './exposed.ts';
import { OrderRef } from './holding.ts';
import { changesArgs, eventFields, positionFields, watching } from './live.ts';
import { PositionTotalsRef } from './position-totals.ts';
import { SessionRef } from './session.ts';
import { nonNull, perAccount } from './sharing.ts';

/** Marks the fields for which op 10 has to be read as well, and those that have it read more often. */
const ofSnapshots = traits({ ...perAccount.extensions, ...reads('snapshots').extensions });
const ofFigures = traits({ ...perAccount.extensions, ...reads('figures').extensions });

const ChangedPositionsRef = builder.objectRef<Delta<Position>>('ChangedPositions').implement({
  description: 'What turns the list of positions that the client holds into the present one.',
  fields: positionFields,
});

const ChangedOrdersRef = builder.objectRef<ChangedOrders>('ChangedOrders').implement({
  description: 'What turns the list of pending orders that the client holds into the present one.',
  fields: (t) => ({
    upserted: t.expose('upserted', {
      ...nonNull(perAccount, 'Orders that are new or have changed; all of them on a snapshot.'),
      type: [OrderRef],
    }),
    ...exposed(t, perAccount, {
      '[ID!]!': {
        closed: 'Ids of those that are no longer pending: triggered, cancelled or expired.',
      },
      'DateTime!': { fetchedAt: 'When the gateway was asked for this list: it is no older.' },
    }),
  }),
});

const AccountChangesRef = builder.objectRef<FeedEvent>('AccountChanges').implement({
  description: 'What changed in the account since your last event.',
  fields: (t) => ({
    ...eventFields(t),
    positions: t.field({
      ...nonNull(perAccount, 'The open positions.'),
      type: ChangedPositionsRef,
      resolve: (changes) => changes,
    }),
    orders: t.expose('orders', {
      ...ofSnapshots,
      type: ChangedOrdersRef,
      nullable: true,
      description:
        'The pending orders. One that has become a position leaves by the next event for which the account was read. Null while the gateway has not said any.',
    }),
    session: t.expose('session', {
      ...ofFigures,
      type: SessionRef,
      nullable: true,
      description:
        'The gateway’s figures as of `fetchedAt`: read at every fifth poll, when positions open or close, and after an order of one’s own. Null while the gateway has not said any.',
    }),
    totals: t.expose('totals', {
      ...nonNull(perAccount, 'Sums over the present positions.'),
      type: PositionTotalsRef,
    }),
  }),
});

builder.subscriptionField('accountChanges', (t) =>
  t.field({
    ...perAccount,
    type: AccountChangesRef,
    nullable: false,
    description:
      'The whole account as a snapshot, then as what changed: open positions, pending orders and the figures of the session. An event comes every `heartbeatSeconds` at least. Without `orders` and `session` it costs the gateway what `positionChanges` costs.',
    args: changesArgs,
    subscribe: async (_root, args, context): Promise<PullStream<FeedEvent>> =>
      watching(context, args, async (proof, viewer): Promise<PullStream<FeedEvent>> => {
        const { feeds, catchUp } = context.services;
        const plan = context.planOf();
        const how = { ...args, ticks: plan.has('ticks') };
        const figures = plan.has('figures');
        if (!figures && !plan.has('snapshots')) return feeds.watchChanges(proof, viewer, how);
        await catchUp(proof.account);
        return feeds.watchAccount(proof, viewer, { ...how, figures });
      }),
    resolve: (changes: FeedEvent) => changes,
  }),
);
