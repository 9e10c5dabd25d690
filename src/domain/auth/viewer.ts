import type { SessionAnswer } from '../../gateway/answers.ts';
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
  /** Left out for work that no document waits for. */
  readonly own?: OwnReads | undefined;
}

/** The reads that the viewer's own document makes anyway: each begins when it is first asked for. */
export interface OwnReads {
  /** Null where the document does not read the snapshot. */
  plannedSession(): Promise<SessionAnswer> | null;
  /** The other reads whose 200 proves the token. */
  plannedProofs(): readonly Promise<unknown>[];
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
export function lasting({ caller, own: _, ...viewer }: Viewer): Viewer {
  const { token, client, provedLogin } = caller;
  const kept = { token, ...(client && { client }), ...(provedLogin && { provedLogin }) };
  return { ...viewer, caller: kept };
}

/** For a feed's poll, which is never retried and has its own bulkhead behind the requests. */
export function polling(viewer: Viewer): Viewer {
  return { ...viewer, caller: { ...viewer.caller, priority: 'poll' } };
}
