import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

export const addMobileWallet = write(
  OPERATIONS.addMobileWallet,
  { phone: '+49 151' },
  { sends: 'POST /payments/client/add-crm-mobile-wallet', fields: 'phone: "+49 151"' },
);
