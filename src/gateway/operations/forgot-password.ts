import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

const BODY = f.table('ForgottenPassword', { email: f.vital(f.text) });

export const forgotPassword = write({
  name: 'forgotPassword',
  number: 3,
  isAnonymous: true,
  errors: 'sign-in',
  calls: { ask: acknowledged('POST', '/auth/forgot-password', BODY) },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => calls.acknowledged('ask', { body }),
});
