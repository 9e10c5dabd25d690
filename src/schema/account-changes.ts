import { traits } from '../../lib/field-traits.ts';
import type { Delta } from '../../lib/live/timeline.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import type {
  AccountChanges,
  ChangedOrders,
  PositionChanges,
} from '../domain/positions/feed-state.ts';
import type { Position } from '../gateway/model.ts';
import { reads } from './account-read.ts';
import { builder } from './builder.ts';
import { exposed } from './exposed.ts';
import { OrderRef } from './holding.ts';
import { changesArgs, eventFields, positionFields, watching } from './live.ts';
import { PositionTotalsRef } from './position-totals.ts';
import { SessionRef } from './session.ts';
import { nonNull, perAccount } from './sharing.ts';

/** An event has the positions alone where neither orders nor session are selected. */
type Changes = AccountChanges | PositionChanges;
type Stream = PullStream<AccountChanges> | PullStream<PositionChanges>;

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

const AccountChangesRef = builder.objectRef<Changes>('AccountChanges').implement({
  description: 'What changed in the account since your last event.',
  fields: (t) => ({
    ...eventFields(t),
    positions: t.field({
      ...nonNull(perAccount, 'The open positions.'),
      type: ChangedPositionsRef,
      resolve: (changes) => (changes.kind === 'account' ? changes.positions : changes),
    }),
    orders: t.field({
      ...ofSnapshots,
      type: ChangedOrdersRef,
      nullable: true,
      description:
        'The pending orders. One that was triggered leaves in the event in which its position appears, if the gateway says so within an interval. Null while the gateway has not said any.',
      resolve: (changes) => (changes.kind === 'account' ? changes.orders : null),
    }),
    session: t.field({
      ...ofFigures,
      type: SessionRef,
      nullable: true,
      description:
        'The gateway’s figures as of `fetchedAt`: read every five seconds, when the members of the list change, and after an order of one’s own. Null while the gateway has not said any.',
      resolve: (changes) => (changes.kind === 'account' ? changes.session : null),
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
    subscribe: async (_root, args, context): Promise<Stream> =>
      watching(context, args, async (proof, viewer): Promise<Stream> => {
        const { hub, catchUp } = context.services;
        const plan = context.planOf();
        const how = { ...args, ticks: plan.has('ticks') };
        const figures = plan.has('figures');
        if (!figures && !plan.has('snapshots')) return hub.watchChanges(proof, viewer, how);
        await catchUp(proof.account);
        return hub.watchAccount(proof, viewer, { ...how, figures });
      }),
    resolve: (changes: Changes) => changes,
  }),
);
