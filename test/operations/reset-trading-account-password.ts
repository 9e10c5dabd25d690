import { write } from './operation-case.ts';

export const resetTradingAccountPassword = write(
  'resetTradingAccountPassword',
  { account: '700001' },
  {
    body: { account_external_id: '700001' },
    sends: 'POST /user/trading-accounts/reset-password',
    fields: 'accountExternalId: "700001"',
  },
);
