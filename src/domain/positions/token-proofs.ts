import type { Viewer } from '../auth/viewer.ts';

/** What a feed must know of the proof of its tokens. */
export interface TokenProofs {
  /** Whether the account is open to this token now, by what is known of it. */
  holds(viewer: Viewer): boolean;
  /** Proves the token anew where its use for polling was not enough; rejects where that fails. */
  renew(viewer: Viewer): Promise<unknown>;
}
