import { write } from '../define-operation.ts';
import { type Answer, jsonOf } from '../exchange.ts';
import * as f from '../fields.ts';
import { type GatewayRefusal, toRefusal } from '../gateway-error.ts';
import { answerOf, failure, isAboutTheRequest, isSuccess } from '../judge.ts';
import { readingIn } from '../scalars.ts';

export const CREDENTIALS = f.table('Credentials', {
  email: f.vital(f.text),
  password: f.vital(f.text),
});

export const GRANT = f.table('Login', {
  accessToken: f.from('access_token', f.vital(f.filled)),
  refreshToken: f.from('refresh_token', f.text),
  passkey: f.flag,
});

/** The outcome of a sign-in that the gateway answered. */
export type SignIn =
  | { readonly outcome: 'granted'; readonly grant: f.ValueOf<typeof GRANT.fields> }
  | { readonly outcome: 'rejected'; readonly refusal: GatewayRefusal };

export const login = write({
  name: 'login',
  number: 2,
  isAnonymous: true,
  errors: 'sign-in',
  calls: {
    signIn: { method: 'POST', path: '/auth/login', body: CREDENTIALS.shape, answer: GRANT.shape },
  },
  async run(calls, input: f.SentBy<typeof CREDENTIALS.fields>): Promise<SignIn> {
    const body = CREDENTIALS.toWire(input);
    const answer = answerOf(calls.operation, await calls.send('signIn', { body }));
    const signIn = signInOf(answer);
    if (signIn !== null) return signIn;
    if (isSuccess(answer.status)) throw calls.broken('neither a token nor an error');
    throw failure(calls.operation, answer);
  },
});

/** Null if the answer is neither a grant nor a refusal of the input. */
function signInOf(answer: Answer): SignIn | null {
  const body = jsonOf(answer);
  if (!isSuccess(answer.status)) {
    const isRefusal = isAboutTheRequest(login, answer.status);
    return isRefusal ? { outcome: 'rejected', refusal: toRefusal(body) } : null;
  }
  const grant = GRANT.read(body, readingIn('auto'));
  if (grant !== null) return { outcome: 'granted', grant };
  const refusal = toRefusal(body);
  return refusal.error === null ? null : { outcome: 'rejected', refusal };
}
