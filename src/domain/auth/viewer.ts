import type { Caller } from '../../gateway/caller.ts';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import type { Account, Login } from '../../lib/account.ts';
import type { ForwardedHeaders } from '../../lib/forwarded-headers.ts';
import type { Token } from '../../lib/token.ts';

/** A caller as its token claims. Claims choose the gateway's path, and open no shared data until it accepts this token. */
export interface Viewer extends Caller {
  readonly token: Token;
  /** Entries private to one token are stored under this, never under the token. */
  readonly tokenHash: string;
  readonly login: Login;
  /** The key of all that is shared within the account. */
  readonly account: Account;
  readonly claimedGroup: string | null;
  readonly expiresAtMs: number | null;
  /** Undefined for work that no document waits for. */
  readonly own?: OwnReads | undefined;
}

/** The reads that the viewer's own document makes anyway: each begins when it is first asked for. */
export interface OwnReads {
  /** Null where the document does not read the snapshot. */
  plannedSession(): Promise<SessionAnswer> | null;
  /** The other reads whose 200 proves the token. */
  plannedProofs(): readonly Promise<unknown>[];
}

/** No other place makes one. */
export function accountOf(login: Login, forwarded: ForwardedHeaders | undefined): Account {
  return tenantKey(login, forwarded) as Account;
}

/** The login of an account, and the digest of its tenant's headers. */
export function partsOf(account: Account): [login: string, tenant: string | null] {
  const [login = '', tenant = null] = account.split('~');
  return [login, tenant];
}

/** A request with other forwarded headers may mean another account, or another catalog, by the same name. */
function tenantKey(name: string, forwarded: ForwardedHeaders | undefined): string {
  return forwarded === undefined ? name : `${name}~${forwarded.digest}`;
}

/** The key of all that is shared within a group. */
export function groupKey({ forwarded }: Viewer, group: string): string {
  // A group may have any name, and none is to be the key of another with a digest.
  return tenantKey(group.replaceAll('~', '~~'), forwarded);
}

/** The viewer without the AbortSignal, for a call that others share: the first client must not abort it for all. */
export function detached(viewer: Viewer): Viewer {
  return { ...viewer, signal: undefined };
}

/** For a call that the request may begin, and does not wait for. */
export function inBackground(viewer: Viewer): Viewer {
  return { ...detached(viewer), receipt: undefined, priority: undefined };
}

/** For work that outlives the request by hours. */
export function lasting(viewer: Viewer): Viewer {
  return { ...inBackground(viewer), requestId: undefined, trace: undefined, own: undefined };
}

/** For a feed's poll, which is never retried and gives way to requests in the bulkhead. */
export function polling(viewer: Viewer): Viewer {
  return { ...viewer, priority: 'poll' };
}
