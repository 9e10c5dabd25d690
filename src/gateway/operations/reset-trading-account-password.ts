import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { ACKNOWLEDGED } from './acknowledged.ts';

const BODY = f.table('TradingAccount', { account_external_id: f.vital(f.text) });

export const resetTradingAccountPassword = write({
  name: 'resetTradingAccountPassword',
  number: 6,
  calls: {
    reset: {
      method: 'POST',
      path: '/user/trading-accounts/reset-password',
      body: BODY.shape,
      answer: ACKNOWLEDGED.shape,
    },
  },
  run: (calls, { account }: { readonly account: string }) =>
    calls.acknowledged('reset', { body: { account_external_id: account } }),
});
