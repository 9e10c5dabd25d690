import { OPERATIONS } from '../../src/gateway/operations.ts';
import { SIGN_IN, write } from './operation-case.ts';

export const forgotPassword = write(
  OPERATIONS.forgotPassword,
  { email: 'demo@example.com' },
  { ...SIGN_IN, fields: 'email: "demo@example.com"' },
);
