import type { WireSession } from '../gateway/operations/get-session.ts';
import type { WireOrder, WirePosition } from '../gateway/operations/holdings.ts';
import {
  type Account,
  figuresOf,
  type OpenPosition,
  type PendingOrder,
  profitOf,
} from './account.ts';
import type { Market } from './market.ts';
import { round } from './money.ts';

interface Made {
  marketVersion: number;
  revision: number;
  session: Buffer | null;
  positions: Buffer | null;
}

/** The order state of every pending order: placed, in the numbering of trading platforms. */
const STATE_PLACED = 1;
const CREATED_AT_MS = Date.UTC(2025, 2, 3, 9, 30);

/** Memoizes the answers of operations 10 and 12 per account until something changes. */
export class Snapshots {
  readonly #market: Market;
  readonly #made = new WeakMap<Account, Made>();

  constructor(market: Market) {
    this.#market = market;
  }

  session(account: Account): Buffer {
    const made = this.#current(account);
    made.session ??= toBytes(toWireSession(account, this.#market));
    return made.session;
  }

  positions(account: Account): Buffer {
    const made = this.#current(account);
    made.positions ??= toBytes({ positions: openPositions(account, this.#market) });
    return made.positions;
  }

  #current(account: Account): Made {
    const { revision } = account;
    const marketVersion = this.#market.version;
    const known = this.#made.get(account);
    if (known?.marketVersion === marketVersion && known.revision === revision) return known;
    const made = { marketVersion, revision, session: null, positions: null };
    this.#made.set(account, made);
    return made;
  }
}

function toBytes(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function toWireSession(account: Account, market: Market): WireSession {
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

function openPositions(account: Account, market: Market): WirePosition[] {
  return [...account.positions.values()].map((position) => toWirePosition(position, market));
}

function toWirePosition(position: OpenPosition, market: Market): WirePosition {
  const { listed, createdAtMs } = position;
  const { wire, index } = listed;
  return {
    id: position.id,
    symbol: wire._id,
    logo: wire.logo,
    delayed: wire.delayed,
    sharia: wire.sharia,
    digits: wire.digits,
    friendlyName: wire.friendlyName,
    units: position.units,
    priceOpen: position.priceOpen,
    priceCurrent: market.price(index),
    timeCreate: createdAtMs,
    timeUpdate: Math.max(createdAtMs, market.changedAtMs(index)),
    leverage: position.leverage,
    rateMargin: position.rateMargin,
    rateProfit: round(market.rate(wire.pCurrency), 6),
    isBuy: position.isBuy,
    sl: position.sl,
    tp: position.tp,
    storage: position.storage,
    comment: position.comment,
    profit: profitOf(position, market),
    invested: position.invested,
  };
}

function toWireOrder(order: PendingOrder, market: Market): WireOrder {
  const { listed, createdAtMs } = order;
  const { wire, index } = listed;
  return {
    id: order.id,
    symbol: wire._id,
    logo: wire.logo,
    friendlyName: wire.friendlyName,
    units: order.units,
    digits: wire.digits,
    state: STATE_PLACED,
    delayed: wire.delayed,
    sharia: wire.sharia,
    priceOpen: order.priceOpen,
    priceCurrent: market.price(index),
    leverage: order.leverage,
    timeCreate: createdAtMs,
    timeUpdate: createdAtMs,
    rateMargin: order.rateMargin,
    isBuy: order.isBuy,
    isLimit: order.isLimit,
    sl: order.sl,
    tp: order.tp,
    comment: order.comment,
    invested: order.invested,
    useMargin: true,
  };
}
