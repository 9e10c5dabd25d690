import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

export const resetTradingAccountPassword = write(
  OPERATIONS.resetTradingAccountPassword,
  { account: '700001' },
  {
    body: { account_external_id: '700001' },
    sends: 'POST /user/trading-accounts/reset-password',
    fields: 'accountExternalId: "700001"',
  },
);
