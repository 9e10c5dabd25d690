import type { GraphQLResolveInfo } from 'graphql';
import { notSent } from '../domain/trading/order-errors.ts';
import { type OrderResult, type Submission, unsentReason } from '../domain/trading/outcome.ts';
import {
  idempotencyKey,
  limitTicket,
  marketTicket,
  type Ticket,
} from '../domain/trading/ticket.ts';
import { traits } from '../lib/field-traits.ts';
import type { UnsentReason as Reason } from '../store/order-records.ts';
import { builder, exposedOf, nullable, reads } from './builder.ts';
import type { Context } from './context.ts';
import { OrderRef, PositionRef, Side } from './holding.ts';
import type { Scope } from './scope.ts';
import { SessionRef } from './session.ts';
import { needed, RefusalRef } from './user-writes.ts';

const OrderSize = builder.inputType('OrderSize', {
  description: 'The size of an order: in units of the instrument, or in money.',
  isOneOf: true,
  fields: (t) => ({
    units: t.float({ description: 'Units of the instrument, above 0.' }),
    amount: t.float({ description: 'Money, above 0. The gateway does not document its currency.' }),
  }),
});

const Protection = builder.inputType('Protection', {
  description:
    'The level at which a position closes automatically: a price, or an amount won or lost.',
  isOneOf: true,
  fields: (t) => ({
    price: t.float({ description: 'The price.' }),
    amount: t.float({ description: 'The amount; only with a size that is an amount.' }),
  }),
});

const PlaceOrderKind = builder.enumType('PlaceOrderKind', {
  description: 'Whether an order is executed at once or waits for its price.',
  values: {
    MARKET: { description: 'Executed at once, at the market; a `price` is refused.' },
    PENDING: { description: 'Waits for its `price`, which must be given.' },
  },
});

const KEY_DESCRIPTION =
  'Identifies this order: a key of `newOrderKey`, or a UUIDv8 whose first 48 bits are the milliseconds since 1970 by the date of this server. Use a new key for each order, and the same key for each repeat of it: the order is sent at most once. A time more than 2 seconds ahead is refused.';

const SEND_BEFORE_DESCRIPTION =
  'The order’s deadline, by the date of this server, at most 24 hours ahead. After it the order is rejected unsent, with the error `EXPIRED`. By default there is no deadline. It is ignored when a retry is matched to its first attempt: a retry gets the first outcome.';

type Fields = Parameters<Parameters<typeof builder.inputType>[1]['fields']>[0];

const subject = (t: Fields) => ({
  symbol: t.id({ required: true, description: 'The instrument to trade.' }),
  side: t.field({ type: Side, required: true, description: 'Buy or sell.' }),
});

const sending = (t: Fields) => ({
  comment: t.string({ description: 'A note to keep with it.' }),
  idempotencyKey: t.string({ required: true, description: KEY_DESCRIPTION }),
  sendBefore: t.field({ type: 'DateTime', description: SEND_BEFORE_DESCRIPTION }),
});

const PlaceOrderInput = builder.inputType('PlaceOrderInput', {
  description: 'An order at the market, or one that waits for its price.',
  fields: (t) => ({
    ...subject(t),
    size: t.field({ type: OrderSize, required: true, description: 'The size.' }),
    kind: t.field({
      type: PlaceOrderKind,
      required: true,
      description:
        'The intended kind. It protects from a lost `price`, which would otherwise turn a pending order into a market order.',
    }),
    price: t.float({
      description:
        'The price to wait for, above 0: required with `kind: PENDING`, refused with `MARKET`.',
    }),
    stopLoss: t.field({
      type: Protection,
      description: 'The level at which to stop a loss. Leave it out for none; null is refused.',
    }),
    takeProfit: t.field({
      type: Protection,
      description: 'The level at which to take a profit. Leave it out for none; null is refused.',
    }),
    ...sending(t),
  }),
});

const PlaceLimitOrderInput = builder.inputType('PlaceLimitOrderInput', {
  description: 'An order that always waits for its price.',
  fields: (t) => ({
    ...subject(t),
    amount: t.float({ required: true, description: 'The amount, in USD, above 0.' }),
    price: t.float({ required: true, description: 'The price to wait for, above 0.' }),
    stopLoss: t.float({
      description: 'The price at which to stop a loss. Leave it out for none; null is refused.',
    }),
    takeProfit: t.float({
      description: 'The price at which to take a profit. Leave it out for none; null is refused.',
    }),
    ...sending(t),
  }),
});

type PlacedAs<Outcome extends Submission['kind']> = OrderResult & {
  readonly outcome: Extract<Submission, { kind: Outcome }>;
  /** The scope in which the fields of a query's result are read. */
  readonly afterwards?: Scope;
};

type Result = PlacedAs<'accepted'> | PlacedAs<'rejected'> | PlacedAs<'unknown'>;

const OrderOutcome = builder.interfaceRef<OrderResult>('OrderOutcome').implement({
  description: 'The common fields of order outcomes.',
  fields: (t) => ({
    idempotencyKey: t.exposeString('idempotencyKey', {
      nullable: false,
      description: 'The key of the order.',
    }),
    message: t.string({
      nullable: true,
      description: 'The gateway’s message.',
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
    exposedOf(t, ({ outcome }) => outcome, {
      ID: { orderId: 'The gateway’s number of the order.' },
    }),
});

const UnsentReason = builder.enumType('UnsentReason', {
  description:
    'The reason for which this server refused an order without sending it. Reasons may be added: if a repeat of an order in doubt returns an unrecognised reason, the order stays in doubt.',
  values: {
    EXPIRED: { description: 'It arrived after its `sendBefore`.' },
    VOIDED: { description: 'Its key was closed before an order used it.' },
    SETTLED: { description: 'The broker’s back office has found that it was never carried out.' },
  } satisfies Record<Reason, { description: string }>,
});

const OrderRejectedRef = builder.objectRef<PlacedAs<'rejected'>>('OrderRejected').implement({
  description:
    'The order was refused, by the gateway, or by this server before it was sent: this request traded nothing.',
  interfaces: [OrderOutcome, RefusalRef],
  fields: (t) =>
    exposedOf(t, ({ outcome }) => ({ ...outcome, sent: outcome.sent ?? true }), {
      'Boolean!': {
        sent: 'True if the gateway refused it, in its own words. False if this server refused it, for its `reason`: `EXPIRED` or `VOIDED` before it was sent, `SETTLED` by the broker’s decision. Then no request with this key was sent.',
      },
      String: {
        error: 'The gateway’s name for the reason, or this server’s if `sent` is false.',
        // Described here, because both interfaces have the field and `Refusal` has no resolver.
        message: 'The gateway’s message.',
      },
    }),
});

builder.objectField(OrderRejectedRef, 'reason', (t) =>
  t.field({
    type: UnsentReason,
    nullable: true,
    description: 'Why it was not sent; null if the gateway refused it.',
    resolve: ({ outcome }) => unsentReason(outcome),
  }),
);

const OrderOutcomeUnknownRef = builder
  .objectRef<PlacedAs<'unknown'>>('OrderOutcomeUnknown')
  .implement({
    description:
      'The order was sent and no clear answer was received: it may have been carried out. Do not place it again with another key. Look at the positions and orders, or repeat with the same key later.',
    interfaces: [OrderOutcome],
    fields: (t) =>
      exposedOf(t, ({ outcome }) => ({ sentAt: outcome.sentAtMs }), {
        'DateTime!': { sentAt: 'When it was sent.' },
      }),
  });

// The cast is safe, because these fields do not read the outcome.
for (const ref of [OrderAcceptedRef, OrderOutcomeUnknownRef]) {
  builder.objectFields(ref as typeof OrderAcceptedRef, (t) => ({
    positions: t.field({
      ...nullable('The open positions, read after the order.', reads('positions')),
      type: [PositionRef],
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).positions(),
    }),
    orders: t.field({
      ...nullable('The pending orders, read after the order.', reads('orders')),
      type: [OrderRef],
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).orders(),
    }),
    session: t.field({
      ...nullable('The account’s snapshot, read after the order.', reads('session')),
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
    'The outcome of an order: accepted, refused or unknown. Any error except `INTERNAL` means that this request was not sent, and leaves the key unchanged. With `extensions.earlierUnknown`, it is unknown whether an earlier request with the key was sent.',
  types: [OrderAcceptedRef, OrderRejectedRef, OrderOutcomeUnknownRef],
  resolveType: ({ outcome }: OrderResult) => TYPE_OF[outcome.kind],
});

builder.mutationFields((t) => ({
  placeOrder: t.field({
    type: PlaceOrderResult,
    nullable: true,
    description: 'Opens a position at the market, or places a pending order if `price` is given.',
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
  newOrderKey: t.string({
    nullable: true,
    description:
      'A new key for one order. It carries the time of this server; it is stored nowhere, and needs no token.',
    resolve: (_root, _args, { services }) => services.orderDesk.newKey(),
  }),
  voidOrder: t.field({
    type: PlaceOrderResult,
    nullable: true,
    description:
      'Ends the doubt about a key. An unused key is closed for a day: this field, `placedOrder` and every later order with the key return `OrderRejected` with the error `VOIDED`, unsent. For a used key it returns the outcome; it waits for an order that is under way, and never voids it. `IDEMPOTENCY_UNAVAILABLE` means that it is unknown whether an order was sent; with `retryable: false` the key is closed, and the order records do not reach back to its time.',
    args: {
      idempotencyKey: t.arg.string({ required: true, description: 'The key to close.' }),
    },
    resolve: (_root, { idempotencyKey: given }, context, { path }) => {
      const key = idempotencyKey('idempotencyKey', given);
      const send = async (scope: Scope) =>
        toResult(await context.services.orderDesk.void(await scope.viewer(), key));
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
      'The outcome of the order with this key. It waits for an order that is under way, and sends nothing. Null if there is no record: no order with this key was sent, or it ended in an error. It may still arrive; `voidOrder` ends that doubt.',
    args: {
      idempotencyKey: t.arg.string({ required: true, description: 'The key it was sent with.' }),
    },
    resolve: async (_root, args, context, { path }) => {
      const { scope, services } = context;
      const key = idempotencyKey('idempotencyKey', args.idempotencyKey);
      const placed = await services.orderDesk.placed(await scope.viewer(), key);
      if (placed === null) return null;
      // Reads that the scope has memoized may be older than the order.
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

/** Narrows the type to a union of variants, which the outcome's kind distinguishes. */
function toResult(placed: OrderResult): Result {
  return placed as Result;
}
