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

const BODY = f.table('LimitOrder', {
  symbol: f.vital(f.text),
  // Sent under the name in GATEWAY_DIRECTION_FIELD.
  direction: f.vital(f.word('buy', 'sell')),
  amount: f.vital(f.amount),
  price: f.vital(f.amount),
  sl: f.unneeded(f.amount),
  tp: f.unneeded(f.amount),
  comment: f.unneeded(f.text),
});
type Body = f.WireOf<typeof BODY.fields>;

export const placeLimitOrder = order({
  name: 'placeLimitOrder',
  number: 5,
  calls: {
    trade: {
      method: 'POST',
      path: '/trading/positions/limit',
      body: BODY.shape,
      answer: SUBMITTED.shape,
    },
  },
  trade(given: LimitOrder, settings) {
    const { symbol, side, amount, price, stopLoss, takeProfit, comment } = given;
    const fields = {
      amount,
      price,
      ...(stopLoss !== null && { sl: stopLoss }),
      ...(takeProfit !== null && { tp: takeProfit }),
      ...(comment !== null && { comment }),
    } satisfies Omit<Body, 'symbol' | 'direction'>;
    const body = { symbol, [settings.gatewayDirectionField]: direction(side), ...fields };
    return { body };
  },
  reply: submitted,
});
