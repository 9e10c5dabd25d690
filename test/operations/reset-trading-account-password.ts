import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

export const resetTradingAccountPassword = write(
  OPERATIONS.resetTradingAccountPassword,
  { account: '700001' },
  { fields: 'accountExternalId: "700001"' },
);
