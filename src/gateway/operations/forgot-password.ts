import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { ACKNOWLEDGED } from './acknowledged.ts';

const BODY = f.table('ForgottenPassword', { email: f.vital(f.text) });

export const forgotPassword = write({
  name: 'forgotPassword',
  number: 3,
  backend: 'auth',
  isAnonymous: true,
  errors: 'sign-in',
  calls: {
    ask: {
      method: 'POST',
      path: '/auth/forgot-password',
      body: BODY.shape,
      answer: ACKNOWLEDGED.shape,
    },
  },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => calls.acknowledged('ask', { body }),
});
