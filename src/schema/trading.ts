import { idempotencyKey } from '../domain/trading/input-rules.ts';
import type { Placed } from '../domain/trading/orders.ts';
import type { Submission } from '../domain/trading/outcome.ts';
import { limitTicket, marketTicket, type Ticket } from '../domain/trading/ticket.ts';
import { RefusalRef } from './acknowledge.ts';
import { builder } from './builder.ts';
import type { Context } from './context.ts';
import { OrderRef, PositionRef, Side } from './holding.ts';
import type { Scope } from './scope.ts';
import { SessionRef } from './session.ts';

type PlacedAs<Outcome extends Submission['outcome']> = Placed & {
  readonly outcome: Extract<Submission, { outcome: Outcome }>;
  /** The scope in which the fields of a result without a write are read. */
  readonly afterwards?: Scope;
};

type Result = PlacedAs<'accepted'> | PlacedAs<'rejected'> | PlacedAs<'unknown'>;

const OrderSize = builder.inputType('OrderSize', {
  description: 'How much: in units of the instrument, or in money.',
  isOneOf: true,
  fields: (t) => ({
    units: t.float({ description: 'Units of the instrument.' }),
    amount: t.float({ description: 'Money, in the account’s currency.' }),
  }),
});

const Protection = builder.inputType('Protection', {
  description: 'Where a position closes by itself: at a price, or at an amount won or lost.',
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
  'Names this order, 1 to 255 characters, new for each order and the same for each repeat of it: the order is sent at most once.';

const PlaceOrderInput = builder.inputType('PlaceOrderInput', {
  description: 'An order at the market, or one that waits for its price.',
  fields: (t) => ({
    symbol: t.id({ required: true, description: 'The instrument to trade.' }),
    side: t.field({ type: Side, required: true, description: 'Buy or sell.' }),
    size: t.field({ type: OrderSize, required: true, description: 'How much.' }),
    kind: t.field({
      type: PlaceOrderKind,
      required: false,
      description:
        'What is meant, so that a `price` that is missing or not meant is refused; left out, `price` alone decides.',
    }),
    price: t.float({
      required: false,
      description:
        'The price to wait for, above 0; left out, the order is executed immediately. Null is refused, but for `kind: MARKET`.',
    }),
    stopLoss: t.field({
      type: Protection,
      required: false,
      description: 'Where to stop a loss; left out for none, null is refused.',
    }),
    takeProfit: t.field({
      type: Protection,
      required: false,
      description: 'Where to take a profit; left out for none, null is refused.',
    }),
    comment: t.string({ required: false, description: 'A note to keep with it.' }),
    idempotencyKey: t.string({ required: true, description: KEY_DESCRIPTION }),
  }),
});

const PlaceLimitOrderInput = builder.inputType('PlaceLimitOrderInput', {
  description: 'An order that always waits for its price.',
  fields: (t) => ({
    symbol: t.id({ required: true, description: 'The instrument to trade.' }),
    side: t.field({ type: Side, required: true, description: 'Buy or sell.' }),
    amount: t.float({ required: true, description: 'How much, in USD.' }),
    price: t.float({ required: true, description: 'The price to wait for, above 0.' }),
    stopLoss: t.float({
      required: false,
      description: 'The price at which to stop a loss; left out for none, null is refused.',
    }),
    takeProfit: t.float({
      required: false,
      description: 'The price at which to take a profit; left out for none, null is refused.',
    }),
    comment: t.string({ required: false, description: 'A note to keep with it.' }),
    idempotencyKey: t.string({ required: true, description: KEY_DESCRIPTION }),
  }),
});

const OrderOutcome = builder.interfaceRef<Placed>('OrderOutcome').implement({
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
  fields: (t) => ({
    orderId: t.id({
      nullable: true,
      description: 'The gateway’s number of the order.',
      resolve: ({ outcome }) => outcome.orderId,
    }),
  }),
});

const OrderRejectedRef = builder.objectRef<PlacedAs<'rejected'>>('OrderRejected').implement({
  description: 'The gateway refused the order: nothing was traded.',
  interfaces: [OrderOutcome, RefusalRef],
  fields: (t) => ({
    error: t.string({
      nullable: true,
      description: 'The gateway’s name for the reason.',
      resolve: ({ outcome }) => outcome.error,
    }),
    // Both interfaces define it, and that of refusals does not know its source.
    message: t.string({
      nullable: true,
      description: 'The gateway’s sentence about it.',
      resolve: ({ outcome }) => outcome.message,
    }),
  }),
});

const OrderOutcomeUnknownRef = builder
  .objectRef<PlacedAs<'unknown'>>('OrderOutcomeUnknown')
  .implement({
    description:
      'The order was sent and no clear answer came back: it may have been carried out. Do not place it anew under another key; look at the positions and orders, or repeat with the same key later.',
    interfaces: [OrderOutcome],
    fields: (t) => ({
      sentAt: t.field({
        type: 'DateTime',
        nullable: false,
        description: 'When it was sent.',
        resolve: ({ outcome }) => outcome.sentAt,
      }),
    }),
  });

for (const ref of [OrderAcceptedRef, OrderOutcomeUnknownRef]) {
  builder.objectFields(ref as typeof OrderAcceptedRef, (t) => ({
    positions: t.field({
      type: [PositionRef],
      nullable: true,
      description: 'The open positions, read after the order.',
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).positions(),
    }),
    orders: t.field({
      type: [OrderRef],
      nullable: true,
      description: 'The pending orders, read after the order.',
      resolve: ({ afterwards }, _args, { scope }) => (afterwards ?? scope).orders(),
    }),
    session: t.field({
      type: SessionRef,
      nullable: true,
      description: 'The account’s snapshot, read after the order.',
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
    'What became of an order: taken, refused, or not known. An error means that it was surely not taken, and its key is still free.',
  types: [OrderAcceptedRef, OrderRejectedRef, OrderOutcomeUnknownRef],
  resolveType: ({ outcome }: Placed) => TYPE_OF[outcome.outcome],
});

// An order is traced whatever the share of the requests that are.
const alwaysTraced = { extensions: { isAlwaysTraced: true } } as const;

builder.mutationFields((t) => ({
  placeOrder: t.field({
    ...alwaysTraced,
    type: PlaceOrderResult,
    nullable: true,
    description:
      'Opens a position at the market, or where `price` is given places a pending order.',
    args: { input: t.arg({ type: PlaceOrderInput, required: true, description: 'The order.' }) },
    resolve: (_root, { input }, context) => {
      const ticket = marketTicket(input);
      return place(context, ticket);
    },
  }),
  placeLimitOrder: t.field({
    ...alwaysTraced,
    type: PlaceOrderResult,
    nullable: true,
    description: 'Places an order that waits until the market reaches its price.',
    args: {
      input: t.arg({ type: PlaceLimitOrderInput, required: true, description: 'The order.' }),
    },
    resolve: (_root, { input }, context) => {
      const ticket = limitTicket(input);
      return place(context, ticket);
    },
  }),
}));

builder.queryField('placedOrder', (t) =>
  t.field({
    type: PlaceOrderResult,
    nullable: true,
    description:
      'What became of the order with this key; waits for one that is under way, sends nothing. Null where there is no record: it never arrived, ended in an error, or is more than a day old.',
    args: {
      idempotencyKey: t.arg.string({ required: true, description: 'The key it was sent with.' }),
    },
    resolve: async (_root, args, { scope, services }) => {
      const key = idempotencyKey('idempotencyKey', args.idempotencyKey);
      const placed = await services.orderDesk.placed(await scope.viewer(), key);
      if (placed === null) return null;
      // The scope's memoized reads may be older than the order that the query asks for.
      return { ...toResult(placed), afterwards: scope.renewed() };
    },
  }),
);

function place(context: Context, ticket: Ticket): Promise<Result> {
  return context.write(async (scope) =>
    toResult(await context.services.orderDesk.place(await scope.viewer(), ticket)),
  );
}

/** Returns the same object: its outcome determines the variant, which the type alone cannot express. */
function toResult(placed: Placed): Result {
  return placed as Result;
}
