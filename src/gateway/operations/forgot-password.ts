import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

export const FORGOTTEN_PASSWORD = f.table('ForgottenPassword', { email: f.vital(f.text) });

export const forgotPassword = write({
  name: 'forgotPassword',
  number: 3,
  isAnonymous: true,
  errors: 'sign-in',
  calls: { ask: acknowledged('POST', '/auth/forgot-password', FORGOTTEN_PASSWORD) },
  run: (calls, input: f.SentBy<typeof FORGOTTEN_PASSWORD.fields>) =>
    calls.acknowledged('ask', { body: FORGOTTEN_PASSWORD.toWire(input) }),
});
