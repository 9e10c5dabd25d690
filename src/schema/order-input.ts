import { builder } from './builder.ts';
import { Side } from './holding.ts';

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

/** The first fields of the inputs of both kinds of order. */
const subject = (t: Fields) => ({
  symbol: t.id({ required: true, description: 'The instrument to trade.' }),
  side: t.field({ type: Side, required: true, description: 'Buy or sell.' }),
});

/** The last fields of the inputs of both kinds of order. */
const sending = (t: Fields) => ({
  comment: t.string({ description: 'A note to keep with it.' }),
  idempotencyKey: t.string({ required: true, description: KEY_DESCRIPTION }),
  sendBefore: t.field({ type: 'DateTime', description: SEND_BEFORE_DESCRIPTION }),
});

export const PlaceOrderInput = builder.inputType('PlaceOrderInput', {
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

export const PlaceLimitOrderInput = builder.inputType('PlaceLimitOrderInput', {
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
