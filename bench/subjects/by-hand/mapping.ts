/** Renames the gateway's fields to the screens' fields, without checks. */
import {
  INSTRUMENT,
  type WireInstrument,
} from '../../../src/gateway/operations/get-all-tickers.ts';
import { SESSION, type WireSession } from '../../../src/gateway/operations/get-session.ts';
import { METHOD, type WireMethod } from '../../../src/gateway/operations/get-withdrawal-methods.ts';
import { POSITION, type WirePosition } from '../../../src/gateway/operations/holdings.ts';

export function toInstrument(wire: WireInstrument) {
  const { names } = INSTRUMENT;
  return {
    id: wire[names.id],
    symbol: wire[names.id],
    name: wire[names.name],
    description: wire[names.description],
    logo: wire[names.logo],
    leverage: wire[names.leverage],
    digits: wire[names.digits],
    min: wire[names.min],
    max: wire[names.max],
    step: wire[names.step],
    limit: wire[names.limit],
    mCurrency: wire[names.mCurrency],
    pCurrency: wire[names.pCurrency],
  };
}

export function toPosition(wire: WirePosition) {
  const { names } = POSITION;
  return {
    id: wire[names.id],
    symbol: wire[names.symbol],
    side: wire[names.side] ? 'BUY' : 'SELL',
    name: wire[names.name],
    logo: wire[names.logo],
    delayed: wire[names.delayed],
    sharia: wire[names.sharia],
    digits: wire[names.digits],
    units: wire[names.units],
    priceOpen: wire[names.priceOpen],
    priceCurrent: wire[names.priceCurrent],
    createdAt: new Date(wire[names.createdAt]).toISOString(),
    updatedAt: new Date(wire[names.updatedAt]).toISOString(),
    leverage: wire[names.leverage],
    rateMargin: wire[names.rateMargin],
    rateProfit: wire[names.rateProfit],
    stopLoss: wire[names.stopLoss],
    takeProfit: wire[names.takeProfit],
    storage: wire[names.storage],
    comment: wire[names.comment],
    profit: wire[names.profit],
    invested: wire[names.invested],
  };
}

export function toSession(wire: WireSession) {
  const { names } = SESSION;
  return {
    login: String(wire[names.login]),
    currency: wire[names.currency],
    balance: wire[names.balance],
    credit: wire[names.credit],
    equity: wire[names.equity],
    invested: wire[names.invested],
    profits: wire[names.profits],
    kycStatus: wire[names.kycStatus],
  };
}

export function toMethod(wire: WireMethod) {
  const { names } = METHOD;
  return {
    id: String(wire[names.id]),
    title: wire[names.title],
    type: wire[names.type],
    status: wire[names.status],
    subtitle: wire[names.subtitle],
  };
}
