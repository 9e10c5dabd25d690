import { toToken } from '../../lib/token.ts';
import type { Viewer } from '../../src/domain/auth/viewer.ts';

export type Details = Partial<Omit<Viewer, 'token' | 'tokenHash'>>;

/** Whoever sends this token, which claims the account and the group of most tests. */
export function viewerOf(text: string, details: Details = {}): Viewer {
  const token = toToken(text);
  const login = details.login ?? '1001';
  const identity = { token, tokenHash: token.hash, login, account: login };
  return { ...identity, claimedGroup: 'standard', expiresAtMs: null, ...details };
}

/** The same viewer, but for these details. */
export function viewerBut(viewer: Viewer, details: Details): Viewer {
  return { ...viewer, own: undefined, ...details };
}
