import { toToken } from '../../lib/token.ts';
import type { Viewer } from '../../src/domain/auth/viewer.ts';

/** Whoever sends this token, which claims the account and the group of most tests. */
export function viewerOf(token: string, details: Partial<Viewer> = {}): Viewer {
  return {
    caller: { token: toToken(token) },
    tokenHash: `hash of ${token}`,
    login: '1001',
    claimedGroup: 'standard',
    expiresAtMs: null,
    ...details,
  };
}
