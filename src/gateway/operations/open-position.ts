import type { OperationSettings } from '../calls.ts';
import { order } from '../define-operation.ts';
import * as f from '../fields.ts';
import type { Side } from './holdings.ts';
import { direction, SUBMITTED, submitted } from './submitted.ts';

/** A market order, or a pending order if it has a `price`. */
export interface MarketOrder {
  readonly symbol: string;
  readonly side: Side;
  readonly size: { readonly by: 'units' | 'amount'; readonly value: number };
  readonly price: number | null;
  readonly stopLoss: Protection | null;
  readonly takeProfit: Protection | null;
  readonly comment: string | null;
}

export interface Protection {
  readonly by: 'price' | 'amount';
  readonly value: number;
}

export const MARKET_ORDER = f.table('MarketOrder', {
  symbol: f.vital(f.text),
  // Sent under the name in GATEWAY_DIRECTION_FIELD.
  direction: f.vital(f.word('buy', 'sell')),
  type: f.vital(f.word('unit', 'amount')),
  amount: f.vital(f.amount),
  price: f.unneeded(f.amount),
  sl: f.unneeded(f.amount),
  tp: f.unneeded(f.amount),
  slAmount: f.unneeded(f.amount),
  tpAmount: f.unneeded(f.amount),
  comment: f.unneeded(f.text),
});
type Field = keyof typeof MARKET_ORDER.fields;

export const openPosition = order({
  name: 'openPosition',
  number: 4,
  calls: {
    trade: {
      method: 'POST',
      path: '/trading/positions',
      body: MARKET_ORDER.shape,
      answer: SUBMITTED.shape,
    },
  },
  trade: (given: MarketOrder, settings) => ({ body: bodyOf(given, settings) }),
  reply: submitted,
});

/** Only the requested fields are sent: an absent price means a market order. */
function bodyOf(given: MarketOrder, { gatewayDirectionField }: OperationSettings) {
  const { symbol, side, size, price, stopLoss, takeProfit, comment } = given;
  const { direction: sent, ...fields } = MARKET_ORDER.toWire({
    symbol,
    direction: direction(side),
    type: size.by === 'units' ? 'unit' : 'amount',
    amount: size.value,
    ...(price !== null && { price }),
    ...protection(stopLoss, 'sl', 'slAmount'),
    ...protection(takeProfit, 'tp', 'tpAmount'),
    ...(comment !== null && { comment }),
  });
  return { ...fields, [gatewayDirectionField]: sent };
}

function protection(level: Protection | null, price: Field, amount: Field) {
  return level === null ? {} : { [level.by === 'price' ? price : amount]: level.value };
}
