import { addCryptoWallet } from './operations/add-crypto-wallet.ts';
import { addMobileWallet } from './operations/add-mobile-wallet.ts';
import { forgotPassword } from './operations/forgot-password.ts';
import { getAllTickers } from './operations/get-all-tickers.ts';
import { getCustomerId } from './operations/get-customer-id.ts';
import { getOpenPositions } from './operations/get-open-positions.ts';
import { getSession } from './operations/get-session.ts';
import { getWithdrawalMethods } from './operations/get-withdrawal-methods.ts';
import { login } from './operations/login.ts';
import { markNotificationsRead } from './operations/mark-notifications-read.ts';
import { type MarketOrder, openPosition } from './operations/open-position.ts';
import { type LimitOrder, placeLimitOrder } from './operations/place-limit-order.ts';
import { registerDevice } from './operations/register-device.ts';
import { resetTradingAccountPassword } from './operations/reset-trading-account-password.ts';
import { setValue } from './operations/set-value.ts';

/** The operations of the gateway, in the order of their numbers. Each has its own file. */
export const OPERATIONS = {
  getAllTickers,
  login,
  forgotPassword,
  openPosition,
  placeLimitOrder,
  resetTradingAccountPassword,
  addCryptoWallet,
  addMobileWallet,
  setValue,
  getSession,
  getWithdrawalMethods,
  getOpenPositions,
  getCustomerId,
  markNotificationsRead,
  registerDevice,
};

export type OperationName = keyof typeof OPERATIONS;

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

export type ReadName = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]['effect'] extends 'read' ? Name : never;
}[OperationName];

export const READ_NAMES = OPERATION_NAMES.filter(
  (name): name is ReadName => OPERATIONS[name].effect === 'read',
);

/** Reads without input. A request can make them early, because their 200 proves the token. */
export const PROVING_READS = [getWithdrawalMethods, getCustomerId] as const;

/** An order, and the time until which it may be sent, by this machine's clock; null: no limit. */
export type OrderCall = { readonly sendBeforeMs: number | null } & (
  | { readonly operation: 'openPosition'; readonly order: MarketOrder }
  | { readonly operation: 'placeLimitOrder'; readonly order: LimitOrder }
);
