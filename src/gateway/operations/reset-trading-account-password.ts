import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

const BODY = f.table('TradingAccount', { account_external_id: f.vital(f.text) });

export const resetTradingAccountPassword = write({
  name: 'resetTradingAccountPassword',
  number: 6,
  calls: { reset: acknowledged('POST', '/user/trading-accounts/reset-password', BODY) },
  run: (calls, { account }: { readonly account: string }) =>
    calls.acknowledged('reset', { body: { account_external_id: account } }),
});
