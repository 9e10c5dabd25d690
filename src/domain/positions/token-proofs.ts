import type { Viewer } from '../auth/viewer.ts';

/** The feed's view of the proof of its tokens. */
export interface TokenProofs {
  /** Whether the token has proof of the account now. */
  holds(viewer: Viewer): boolean;
  /** Renews the proof of a token whose polls did not renew it; rejects where that fails. */
  renew(viewer: Viewer): Promise<unknown>;
}
