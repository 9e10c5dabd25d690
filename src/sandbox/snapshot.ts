import { ACCESS, SESSION, type WireSession } from '../gateway/operations/get-session.ts';
import {
  ORDER,
  POSITION,
  type WireOrder,
  type WirePosition,
} from '../gateway/operations/holdings.ts';
import {
  type Account,
  figuresOf,
  type OpenPosition,
  type PendingOrder,
  profitOf,
} from './account.ts';
import type { Market } from './market.ts';
import { round } from './money.ts';

/** The state of every pending order. In the numbering of trading platforms 1 means placed. */
const STATE_PLACED = 1;
const CREATED_AT_MS = Date.UTC(2025, 2, 3, 9, 30);

/** The answer of operation 10. */
export function toWireSession(account: Account, market: Market): WireSession {
  const { user, balance, prevBalance, prevEquity } = account;
  const { invested, profits, storage, equity } = figuresOf(account, market);
  return SESSION.toWire({
    login: user.login,
    balance,
    credit: user.credit,
    storage,
    assets: round(invested + profits, 2),
    prevEquity,
    prevBalance,
    leverage: 100,
    group: user.group,
    server: 'Sandbox-Demo',
    createdAt: CREATED_AT_MS,
    kycStatus: user.kycStatus,
    equity,
    invested,
    profits,
    access: ACCESS.toWire({
      id: user.id,
      name: user.name,
      currency: 'USD',
      currencyDigits: 2,
      isHedged: true,
      noPl: false,
    }),
    positions: openPositions(account, market),
    orders: [...account.orders.values()].map((order) => toWireOrder(order, market)),
    currency: 'USD',
  });
}

/** The rows of operation 12. */
export function openPositions(account: Account, market: Market): WirePosition[] {
  return [...account.positions.values()].map((position) => toWirePosition(position, market));
}

function toWirePosition(position: OpenPosition, market: Market): WirePosition {
  const { listed, createdAtMs } = position;
  const { instrument, index } = listed;
  return POSITION.toWire({
    id: position.id,
    symbol: instrument.symbol,
    logo: instrument.logo,
    delayed: instrument.delayed,
    sharia: instrument.sharia,
    digits: instrument.digits,
    name: instrument.name,
    units: position.units,
    priceOpen: position.priceOpen,
    priceCurrent: market.price(index),
    createdAt: createdAtMs,
    updatedAt: Math.max(createdAtMs, market.changedAtMs(index)),
    leverage: position.leverage,
    rateMargin: position.rateMargin,
    rateProfit: round(market.rate(instrument.pCurrency), 6),
    side: position.isBuy,
    stopLoss: position.sl,
    takeProfit: position.tp,
    storage: position.storage,
    comment: position.comment,
    profit: profitOf(position, market),
    invested: position.invested,
  });
}

function toWireOrder(order: PendingOrder, market: Market): WireOrder {
  const { listed, createdAtMs } = order;
  const { instrument, index } = listed;
  return ORDER.toWire({
    id: order.id,
    symbol: instrument.symbol,
    logo: instrument.logo,
    name: instrument.name,
    units: order.units,
    digits: instrument.digits,
    state: STATE_PLACED,
    delayed: instrument.delayed,
    sharia: instrument.sharia,
    priceOpen: order.priceOpen,
    priceCurrent: market.price(index),
    leverage: order.leverage,
    createdAt: createdAtMs,
    updatedAt: createdAtMs,
    rateMargin: order.rateMargin,
    side: order.isBuy,
    kind: order.isLimit,
    stopLoss: order.sl,
    takeProfit: order.tp,
    comment: order.comment,
    invested: order.invested,
    useMargin: true,
  });
}
