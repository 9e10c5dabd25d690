import type { WireSession } from '../gateway/operations/get-session.ts';
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
  return {
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
    kyc_status: user.kycStatus,
    equity,
    Invested: invested,
    Profits: profits,
    access: {
      id: user.id,
      name: user.name,
      currency: 'USD',
      currencyDigits: 2,
      isHedged: true,
      noPl: false,
    },
    positions: openPositions(account, market),
    orders: [...account.orders.values()].map((order) => toWireOrder(order, market)),
    currency: 'USD',
  };
}

/** The rows of operation 12. */
export function openPositions(account: Account, market: Market): WirePosition[] {
  return [...account.positions.values()].map((position) => toWirePosition(position, market));
}

function toWirePosition(position: OpenPosition, market: Market): WirePosition {
  const { listed, createdAtMs } = position;
  const { wire, index } = listed;
  return POSITION.toWire({
    id: position.id,
    symbol: wire._id,
    logo: wire.logo,
    delayed: wire.delayed,
    sharia: wire.sharia,
    digits: wire.digits,
    name: wire.friendlyName,
    units: position.units,
    priceOpen: position.priceOpen,
    priceCurrent: market.price(index),
    createdAt: createdAtMs,
    updatedAt: Math.max(createdAtMs, market.changedAtMs(index)),
    leverage: position.leverage,
    rateMargin: position.rateMargin,
    rateProfit: round(market.rate(wire.pCurrency), 6),
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
  const { wire, index } = listed;
  return ORDER.toWire({
    id: order.id,
    symbol: wire._id,
    logo: wire.logo,
    name: wire.friendlyName,
    units: order.units,
    digits: wire.digits,
    state: STATE_PLACED,
    delayed: wire.delayed,
    sharia: wire.sharia,
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
