import type { GraphQLResolveInfo } from 'graphql';
import { idempotencyKey } from '../domain/trading/input-rules.ts';
import { notSent } from '../domain/trading/order-errors.ts';
import { type OrderResult, type Submission, unsentReason } from '../domain/trading/outcome.ts';
import { limitTicket, marketTicket, type Ticket } from '../domain/trading/ticket.ts';
import { traits } from '../lib/field-traits.ts';
import type { UnsentReason as Reason } from '../store/order-records.ts';
import { reads } from './account-read.ts';
import { needed, RefusalRef } from './acknowledge.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { exposedOf } from './exposed.ts';
import { OrderRef, PositionRef } from './holding.ts';
import { KEY_MADE, PlaceLimitOrderInput, PlaceOrderInput } from './order-input.ts';
import type { Scope } from './scope.ts';
import { SessionRef } from './session.ts';
import { nullable } from './sharing.ts';

type PlacedAs<Outcome extends Submission['kind']> = OrderResult & {
  readonly outcome: Extract<Submission, { kind: Outcome }>;
  /** The scope for the fields of a result of a query. */
  readonly afterwards?: Scope;
};

type Result = PlacedAs<'accepted'> | PlacedAs<'rejected'> | PlacedAs<'unknown'>;

const OrderOutcome = builder.interfaceRef<OrderResult>('OrderOutcome').implement({
  description: 'What every outcome of an order has.',
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      nullable: false,
      description: 'The key of the order.',
    }),
    message: t.string({
      nullable: true,
      description: 'The gateway’s sentence about it.',
      resolve: ({ outcome }) => outcome.message,
    }),
    replayed: t.exposeBoolean('replayed', {
      nullable: false,
      description: 'Whether this is the outcome of an earlier request with the same key.',
    }),
  }),
});

const OrderAcceptedRef = builder.objectRef<PlacedAs<'accepted'>>('OrderAccepted').implement({
  description: 'The gateway took the order.',
  interfaces: [OrderOutcome],
  fields: (t) =>
    exposedOf(t, null, ({ outcome }) => outcome, {
      ID: { orderId: 'The gateway’s number of the order.' },
    }),
});

const UnsentReason = builder.enumType('UnsentReason', {
  description:
    'Why this server refused an order without sending it. Reasons may be added: on a repeat of an order in doubt, an unrecognised reason leaves it in doubt.',
  values: {
    EXPIRED: { description: 'It came later than its `sendBefore`.' },
    VOIDED: { description: 'Its key was closed before any order had it.' },
    SETTLED: { description: 'The broker’s back office has found that it was never carried out.' },
  } satisfies Record<Reason, { description: string }>,
});

const OrderRejectedRef = builder.objectRef<PlacedAs<'rejected'>>('OrderRejected').implement({
  description:
    'The order was refused, by the gateway, or by this server before it was sent: this request traded nothing.',
  interfaces: [OrderOutcome, RefusalRef],
  fields: (t) =>
    exposedOf(
      t,
      null,
      ({ outcome, earlierUnknown = false }) => ({
        ...outcome,
        sent: outcome.sent ?? true,
        earlierUnknown,
      }),
      {
        'Boolean!': {
          sent: 'True where the gateway refused it, in its own words. False where this server did, for its `reason`: `EXPIRED` or `VOIDED` before the gateway heard of it, `SETTLED` by the word of the broker.',
          earlierUnknown:
            'True if the key was closed after the records of earlier requests with it were lost: show the order as unknown.',
        },
        String: {
          error: 'The gateway’s name for the reason; where `sent` is false, this server’s.',
          // Both interfaces have the field, and `Refusal` has no resolver.
          message: 'The gateway’s sentence about it.',
        },
      },
    ),
});

builder.objectField(OrderRejectedRef, 'reason', (t) =>
  t.field({
    type: UnsentReason,
    nullable: true,
    description: 'Why it was not sent; null where the gateway refused it.',
    resolve: ({ outcome }) => unsentReason(outcome),
  }),
);

const OrderOutcomeUnknownRef = builder
  .objectRef<PlacedAs<'unknown'>>('OrderOutcomeUnknown')
  .implement({
    description:
      'The order was sent and no clear answer came back: it may have been carried out. Do not place it again with another key; look at the positions and orders, or repeat with the same key later.',
    interfaces: [OrderOutcome],
    fields: (t) =>
      exposedOf(t, null, ({ outcome }) => ({ sentAt: outcome.sentAtMs }), {
        'DateTime!': { sentAt: 'When it was sent.' },
      }),
  });

for (const ref of [OrderAcceptedRef, OrderOutcomeUnknownRef]) {
  builder.objectFields(ref as typeof OrderAcceptedRef, (t) => ({
    positions: t.field({
      ...nullable(reads('positions'), 'The open positions, read after the order.'),
      type: [PositionRef],
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).positions(),
    }),
    orders: t.field({
      ...nullable(reads('orders'), 'The pending orders, read after the order.'),
      type: [OrderRef],
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).orders(),
    }),
    session: t.field({
      ...nullable(reads('session'), 'The account’s snapshot, read after the order.'),
      type: SessionRef,
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).session(),
    }),
  }));
}

const TYPE_OF = {
  accepted: 'OrderAccepted',
  rejected: 'OrderRejected',
  unknown: 'OrderOutcomeUnknown',
} as const;

const PlaceOrderResult = builder.unionType('PlaceOrderResult', {
  description:
    'What became of an order: taken, refused, or not known. An error but `INTERNAL` means that this request was not sent, and leaves the key as it was; with `extensions.earlierUnknown`, whether an earlier request with it was sent is not known.',
  types: [OrderAcceptedRef, OrderRejectedRef, OrderOutcomeUnknownRef],
  resolveType: ({ outcome }: OrderResult) => TYPE_OF[outcome.kind],
});

builder.mutationFields((t) => ({
  placeOrder: t.field({
    type: PlaceOrderResult,
    nullable: true,
    description:
      'Opens a position at the market, or where `price` is given places a pending order.',
    args: { input: t.arg(needed(PlaceOrderInput, 'The order.')) },
    resolve: (_root, { input }, context, info) => place(context, () => marketTicket(input), info),
  }),
  placeLimitOrder: t.field({
    type: PlaceOrderResult,
    nullable: true,
    description: 'Places an order that waits until the market reaches its price.',
    args: { input: t.arg(needed(PlaceLimitOrderInput, 'The order.')) },
    resolve: (_root, { input }, context, info) => place(context, () => limitTicket(input), info),
  }),
  voidOrder: t.field({
    type: PlaceOrderResult,
    nullable: true,
    description:
      'Ends the doubt about a key. An unused key is closed for a day: this, `placedOrder` and every order that arrives with it later are `OrderRejected` with the error `VOIDED`, unsent. Of a used key the outcome; an order that is under way is waited for, never voided. `IDEMPOTENCY_UNAVAILABLE`: nobody can say whether an order was sent.',
    args: {
      idempotencyKey: t.arg.string({ required: true, description: 'The key to close.' }),
      since: t.arg({
        type: 'DateTime',
        description: `${KEY_MADE}, or earlier; left out: 24 hours ago. Where the order records do not reach back so far, the key is closed and the answer is \`IDEMPOTENCY_UNAVAILABLE\`.`,
      }),
    },
    resolve: (_root, { idempotencyKey: given, since }, context, { path }) => {
      const key = idempotencyKey('idempotencyKey', given);
      const send = async (scope: Scope) =>
        toResult(await context.services.orderDesk.void(await scope.viewer(), key, since ?? null));
      return context.write(send, String(path.key));
    },
  }),
}));

builder.queryField('placedOrder', (t) =>
  t.field({
    ...traits({ readsApart: true }),
    type: PlaceOrderResult,
    nullable: true,
    description:
      'What became of the order with this key; waits for one that is under way, sends nothing. Null where there is no record: it never arrived, ended in an error, or is more than a day old. `voidOrder` ends that doubt.',
    args: {
      idempotencyKey: t.arg.string({ required: true, description: 'The key it was sent with.' }),
    },
    resolve: async (_root, args, context, { path }) => {
      const { scope, services } = context;
      const key = idempotencyKey('idempotencyKey', args.idempotencyKey);
      const placed = await services.orderDesk.placed(await scope.viewer(), key);
      if (placed === null) return null;
      // The scope's memoized reads may be older than the order that the query asks for.
      return { ...toResult(placed), afterwards: scope.renewed(context.planOf(String(path.key))) };
    },
  }),
);

async function place(
  context: Context,
  toTicket: () => Ticket,
  { path }: GraphQLResolveInfo,
): Promise<Result> {
  try {
    const ticket = toTicket();
    const send = async (scope: Scope) =>
      toResult(await context.services.orderDesk.place(await scope.viewer(), ticket));
    return await context.write(send, String(path.key));
  } catch (error) {
    throw notSent(error);
  }
}

/** Narrows the type to the variants, which the outcome's kind tells apart. */
function toResult(placed: OrderResult): Result {
  return placed as Result;
}
