import type { OperationName, ReadName } from '../../src/gateway/operations.ts';
import { addCryptoWallet } from './add-crypto-wallet.ts';
import { addMobileWallet } from './add-mobile-wallet.ts';
import { forgotPassword } from './forgot-password.ts';
import { getAllTickers } from './get-all-tickers.ts';
import { getCustomerId } from './get-customer-id.ts';
import { getOpenPositions } from './get-open-positions.ts';
import { getSession } from './get-session.ts';
import { getWithdrawalMethods } from './get-withdrawal-methods.ts';
import { login } from './login.ts';
import { markNotificationsRead } from './mark-notifications-read.ts';
import { openPosition } from './open-position.ts';
import type { OperationCase, ReadCase } from './operation-case.ts';
import { placeLimitOrder } from './place-limit-order.ts';
import { registerDevice } from './register-device.ts';
import { resetTradingAccountPassword } from './reset-trading-account-password.ts';
import { setValue } from './set-value.ts';

/** The operations, over which the suites iterate. */
export const OPERATION_CASES: {
  readonly [Name in OperationName]: Name extends ReadName ? ReadCase : OperationCase;
} = {
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
