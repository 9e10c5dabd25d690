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
import { openPosition } from './operations/open-position.ts';
import { placeLimitOrder } from './operations/place-limit-order.ts';
import { registerDevice } from './operations/register-device.ts';
import { resetTradingAccountPassword } from './operations/reset-trading-account-password.ts';
import { setValue } from './operations/set-value.ts';

/** The operations of the interface, in the order of their numbers. Each has a file, which is the one place that says what it is. */
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

type NamesOf<Effect> = {
  [Name in OperationName]: (typeof OPERATIONS)[Name]['effect'] extends Effect ? Name : never;
}[OperationName];

/** The operations that change nothing. */
export type ReadName = NamesOf<'read'>;

/** Those that are acknowledged, or refused: no orders, nor a login. */
export type WriteName = Exclude<NamesOf<'write'>, 'login'>;

/** What a write is asked with. */
export type WriteInput<Name extends WriteName> = Parameters<(typeof OPERATIONS)[Name]['run']>[1];

export const READ_NAMES = OPERATION_NAMES.filter(
  (name): name is ReadName => OPERATIONS[name].effect === 'read',
);

/** The reads that need nothing but their viewer, and that a request may make ahead for what their 200 proves. */
export const PROVING_READS = [getWithdrawalMethods, getCustomerId] as const;
