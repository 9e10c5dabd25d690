import { order } from '../define-operation.ts';
import * as f from '../fields.ts';
import type { Side } from './holdings.ts';
import { direction, SUBMITTED, submitted } from './submitted.ts';

/** `amount` is in USD, the account's currency. */
export interface LimitOrder {
  readonly symbol: string;
  readonly side: Side;
  readonly amount: number;
  readonly price: number;
  readonly stopLoss: number | null;
  readonly takeProfit: number | null;
  readonly comment: string | null;
}

export const LIMIT_ORDER = f.table('LimitOrder', {
  symbol: f.vital(f.text),
  // Sent under the name in GATEWAY_DIRECTION_FIELD.
  direction: f.vital(f.word('buy', 'sell')),
  amount: f.vital(f.amount),
  price: f.vital(f.amount),
  sl: f.unneeded(f.amount),
  tp: f.unneeded(f.amount),
  comment: f.unneeded(f.text),
});

export const placeLimitOrder = order({
  name: 'placeLimitOrder',
  number: 5,
  calls: {
    trade: {
      method: 'POST',
      path: '/trading/positions/limit',
      body: LIMIT_ORDER.shape,
      answer: SUBMITTED.shape,
    },
  },
  trade(given: LimitOrder, settings) {
    const { symbol, side, amount, price, stopLoss, takeProfit, comment } = given;
    const { direction: sent, ...fields } = LIMIT_ORDER.toWire({
      symbol,
      direction: direction(side),
      amount,
      price,
      ...(stopLoss !== null && { sl: stopLoss }),
      ...(takeProfit !== null && { tp: takeProfit }),
      ...(comment !== null && { comment }),
    });
    return { body: { ...fields, [settings.gatewayDirectionField]: sent } };
  },
  reply: submitted,
});
