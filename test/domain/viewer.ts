import { toToken } from '../../lib/token.ts';
import { type Identity, type OwnReads, Viewer } from '../../src/domain/auth/viewer.ts';
import type { Caller } from '../../src/gateway/caller.ts';

export type Details = Partial<Omit<Identity, 'token'> & Omit<Caller, 'token' | 'provedLogin'>> & {
  readonly own?: OwnReads;
};

/** Whoever sends this token, which claims the account and the group of most tests. */
export function viewerOf(token: string, details: Details = {}): Viewer {
  const login = details.login ?? '1001';
  const identity = {
    token: toToken(token),
    forwarded: undefined,
    login,
    account: login,
    claimedGroup: 'standard',
    expiresAtMs: null,
    provedLogin: () => null,
  };
  return new Viewer({ ...identity, ...details }, details, details.own);
}

/** The same viewer, but for these details. */
export function viewerBut(viewer: Viewer, details: Details): Viewer {
  return new Viewer({ ...viewer.identity, ...details }, { ...viewer, ...details }, details.own);
}
