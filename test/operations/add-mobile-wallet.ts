import { OPERATIONS } from '../../src/gateway/operations.ts';
import { write } from './operation-case.ts';

export const addMobileWallet = write(
  OPERATIONS.addMobileWallet,
  { phone: '+49 151' },
  { fields: 'phone: "+49 151"' },
);
