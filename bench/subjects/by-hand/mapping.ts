/** Renames the gateway's fields to the screens' fields, without checks. */
import type { WireInstrument } from '../../../src/gateway/operations/get-all-tickers.ts';
import type { WireSession } from '../../../src/gateway/operations/get-session.ts';
import type { WireWithdrawalMethod } from '../../../src/gateway/operations/get-withdrawal-methods.ts';
import type { WirePosition } from '../../../src/gateway/operations/holdings.ts';

export function toInstrument(wire: WireInstrument) {
  return {
    id: wire._id,
    symbol: wire._id,
    name: wire.friendlyName,
    description: wire.desc,
    logo: wire.logo,
    leverage: wire.leverage,
    digits: wire.digits,
    min: wire.min,
    max: wire.max,
    step: wire.step,
    limit: wire.limit,
    mCurrency: wire.mCurrency,
    pCurrency: wire.pCurrency,
  };
}

export function toPosition(wire: WirePosition) {
  return {
    id: wire.id,
    symbol: wire.symbol,
    side: wire.isBuy ? 'BUY' : 'SELL',
    name: wire.friendlyName,
    logo: wire.logo,
    delayed: wire.delayed,
    sharia: wire.sharia,
    digits: wire.digits,
    units: wire.units,
    priceOpen: wire.priceOpen,
    priceCurrent: wire.priceCurrent,
    createdAt: new Date(wire.timeCreate).toISOString(),
    updatedAt: new Date(wire.timeUpdate).toISOString(),
    leverage: wire.leverage,
    rateMargin: wire.rateMargin,
    rateProfit: wire.rateProfit,
    stopLoss: wire.sl,
    takeProfit: wire.tp,
    storage: wire.storage,
    comment: wire.comment,
    profit: wire.profit,
    invested: wire.invested,
  };
}

export function toSession(wire: WireSession) {
  return {
    login: String(wire.login),
    currency: wire.currency,
    balance: wire.balance,
    credit: wire.credit,
    equity: wire.equity,
    invested: wire.Invested,
    profits: wire.Profits,
    kycStatus: wire.kyc_status,
  };
}

export function toMethod(wire: WireWithdrawalMethod) {
  return {
    id: String(wire.id),
    title: wire.title,
    type: wire.type,
    status: wire.status,
    subtitle: wire.subtitle,
  };
}
