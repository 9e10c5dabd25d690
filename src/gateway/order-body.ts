import type { LimitOrder, MarketOrder, Protection, Side } from './model.ts';

/** Op 4's body. Only the requested fields are named: an absent price means a market order. */
export function marketOrderBody(order: MarketOrder, directionField: string) {
  return {
    symbol: order.symbol,
    [directionField]: direction(order.side),
    type: order.size.by === 'units' ? 'unit' : 'amount',
    amount: order.size.value,
    ...(order.price !== null && { price: order.price }),
    ...protection(order.stopLoss, 'sl', 'slAmount'),
    ...protection(order.takeProfit, 'tp', 'tpAmount'),
    ...(order.comment !== null && { comment: order.comment }),
  };
}

export function limitOrderBody(order: LimitOrder, directionField: string) {
  return {
    symbol: order.symbol,
    [directionField]: direction(order.side),
    amount: order.amount,
    price: order.price,
    ...(order.stopLoss !== null && { sl: order.stopLoss }),
    ...(order.takeProfit !== null && { tp: order.takeProfit }),
    ...(order.comment !== null && { comment: order.comment }),
  };
}

function direction(side: Side): 'buy' | 'sell' {
  return side === 'BUY' ? 'buy' : 'sell';
}

function protection(level: Protection | null, price: string, amount: string) {
  return level === null ? {} : { [level.by === 'price' ? price : amount]: level.value };
}
