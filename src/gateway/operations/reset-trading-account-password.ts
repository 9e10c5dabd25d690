import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

export const TRADING_ACCOUNT = f.table('TradingAccount', {
  account: f.from('account_external_id', f.vital(f.text)),
});

export const resetTradingAccountPassword = write({
  name: 'resetTradingAccountPassword',
  number: 6,
  calls: { reset: acknowledged('POST', '/user/trading-accounts/reset-password', TRADING_ACCOUNT) },
  run: (calls, input: f.SentBy<typeof TRADING_ACCOUNT.fields>) =>
    calls.acknowledged('reset', { body: TRADING_ACCOUNT.toWire(input) }),
});
