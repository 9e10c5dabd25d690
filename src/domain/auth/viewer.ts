import type { Caller } from '../../gateway/caller.ts';

/**
 * The identity that a token claims. Claims choose the gateway's path, and give no access to shared data
 * until the gateway has accepted this very token.
 */
export interface Viewer {
  readonly caller: Caller;
  /** SHA-256 of the token: entries private to one token are stored under this, never under the token. */
  readonly tokenHash: string;
  readonly login: string;
  readonly claimedGroup: string | null;
  readonly expiresAtMs: number | null;
  /** In-flight reads of this viewer's request that prove the token when answered with 200. */
  readonly provingReads?: Set<Promise<void>>;
}

/**
 * Without the request's AbortSignal, for a call that others may share or that must complete: the client
 * that happened to send it first must not be able to abort it for all.
 */
export function detached(viewer: Viewer): Viewer {
  const { signal: _, ...caller } = viewer.caller;
  return { ...viewer, caller };
}

/** Keeps the identity only, for work that outlives the request by hours. */
export function lasting({ caller, provingReads: _, ...viewer }: Viewer): Viewer {
  const { token, client, provedLogin } = caller;
  const kept = { token, ...(client && { client }), ...(provedLogin && { provedLogin }) };
  return { ...viewer, caller: kept };
}

/** For a feed's poll, which is never retried and has its own bulkhead behind the requests. */
export function polling(viewer: Viewer): Viewer {
  return { ...viewer, caller: { ...viewer.caller, priority: 'poll' } };
}
