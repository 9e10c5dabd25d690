import type { Viewer } from '../../src/domain/auth/viewer.ts';
import { ACCOUNT, LOGIN } from '../../src/lib/account.ts';
import { toToken } from '../../src/lib/limits/request-caller.ts';
import { accountNamed, loginNamed } from '../support/accounts.ts';

export type Details = Partial<
  Omit<Viewer, 'token' | 'tokenHash' | typeof LOGIN | typeof ACCOUNT>
> & {
  readonly login?: string;
  readonly account?: string;
};

/** The viewer of this token. By default it has the account and the claimed group of most tests. */
export function viewerOf(text: string, details: Details = {}): Viewer {
  const token = toToken(text);
  const login = loginNamed(details.login ?? '1001');
  const account = accountNamed(details.account ?? login);
  const identity = { token, tokenHash: token.hash, [LOGIN]: login, [ACCOUNT]: account };
  return { claimedGroup: 'standard', expiresAtMs: null, ...details, ...identity };
}

/** The same viewer with other details. The reads that its request plans, `own`, are dropped unless given. */
export function viewerBut(viewer: Viewer, details: Details): Viewer {
  const { login = viewer[LOGIN], account = viewer[ACCOUNT], ...rest } = details;
  const identity = { [LOGIN]: loginNamed(login), [ACCOUNT]: accountNamed(account) };
  return { ...viewer, own: undefined, ...rest, ...identity };
}
