import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { judgeSignIn, type SignIn } from '../judge.ts';
import { LOGIN } from '../wire/bodies.ts';

const BODY = f.table('Credentials', { email: f.vital(f.text), password: f.vital(f.text) });

export const login = write({
  name: 'login',
  number: 2,
  backend: 'auth',
  isAnonymous: true,
  errors: 'sign-in',
  calls: {
    signIn: { method: 'POST', path: '/auth/login', body: BODY.shape, answer: LOGIN.shape },
  },
  run: (calls, credentials: f.WireOf<typeof BODY.fields>): Promise<SignIn> =>
    calls.send('signIn', { body: credentials }, (exchange) => {
      const signIn = judgeSignIn(calls.operation, exchange);
      if (signIn === null) throw calls.broken('neither a token nor an error');
      return signIn;
    }),
});
