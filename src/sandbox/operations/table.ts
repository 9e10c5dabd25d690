import type { OperationName } from '../../gateway/operations.ts';
import type { Handler } from '../call.ts';
import { getOpenPositions, getSession } from './account.ts';
import { forgotPassword, login } from './auth.ts';
import { getAllTickers } from './catalog.ts';
import { markNotificationsRead, registerDevice } from './notifications.ts';
import { openPosition, placeLimitOrder } from './orders.ts';
import {
  addCryptoWallet,
  addMobileWallet,
  getCustomerId,
  getWithdrawalMethods,
} from './payments.ts';
import { resetTradingAccountPassword, setValue } from './user.ts';

export const HANDLERS: Readonly<Record<OperationName, Handler>> = {
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
