import type { Caller } from '../../gateway/caller.ts';

/**
 * Who a token says is asking. These are claims: they choose the gateway's path, and they open
 * nothing that is shared until the gateway has accepted this very token.
 */
export interface Viewer {
  readonly caller: Caller;
  /** SHA-256 of the token: what is private to one token is kept under this, never under the token. */
  readonly tokenHash: string;
  readonly login: string;
  readonly claimedGroup: string | null;
  readonly expiresAtMs: number | null;
  /** Reads of this viewer's request that are under way and, answered with 200, prove the token. */
  readonly provingReads?: Set<Promise<void>>;
}

/**
 * For a call whose answer others may share, or that must end whatever becomes of the request: the
 * client that happened to ask first must not be able to end it for all.
 */
export function detached(viewer: Viewer): Viewer {
  const { signal: _, ...caller } = viewer.caller;
  return { ...viewer, caller };
}

/** For what outlives the request by hours: of the request nothing is kept but who made it. */
export function lasting({ caller, provingReads: _, ...viewer }: Viewer): Viewer {
  const { token, client } = caller;
  return { ...viewer, caller: { token, ...(client && { client }) } };
}

/** For a feed's poll, which is never repeated and stands behind those who wait for an answer. */
export function polling(viewer: Viewer): Viewer {
  return { ...viewer, caller: { ...viewer.caller, priority: 'poll' } };
}
