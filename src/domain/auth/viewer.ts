import type { Caller } from '../../gateway/exchange.ts';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import {
  type ACCOUNT,
  type Account,
  type LOGIN,
  type Login,
  textOf,
  toAccount,
} from '../../lib/account.ts';
import type { ForwardedHeaders } from '../../lib/forwarded-headers.ts';
import type { Token } from '../../lib/limits/request-caller.ts';

/** A caller as its token claims. The claims open no shared data before the gateway accepts the token. */
export interface Viewer extends Caller {
  readonly token: Token;
  /** The key of entries that are private to one token. The token itself is never a key. */
  readonly tokenHash: string;
  readonly [LOGIN]: Login;
  /** The key of the account's shared data. */
  readonly [ACCOUNT]: Account;
  readonly claimedGroup: string | null;
  readonly expiresAtMs: number | null;
  /** Undefined for work that no document waits for. */
  readonly own?: OwnReads | undefined;
}

/** The reads that the viewer's own document makes anyway. Each starts when it is first requested. */
export interface OwnReads {
  /** Null if the document does not read the snapshot. */
  plannedSession(): Promise<SessionAnswer> | null;
  /** The other reads whose 200 proves the token. */
  plannedProofs(): readonly Promise<unknown>[];
}

/** Accounts are created here and when Redis keys are parsed, nowhere else. */
export function accountOf(login: Login, forwarded: ForwardedHeaders | undefined): Account {
  return toAccount(tenantKey(textOf(login), forwarded));
}

export function loginOf(account: Account): Login {
  return partsOf(account)[0] as unknown as Login;
}

/** The login of an account, and the digest of its tenant's headers. */
export function partsOf(account: Account): [login: string, tenant: string | null] {
  const [login = '', tenant = null] = textOf(account).split('~');
  return [login, tenant];
}

/** With other forwarded headers, the same name can mean another account or catalog. */
function tenantKey(name: string, forwarded: ForwardedHeaders | undefined): string {
  return forwarded === undefined ? name : `${name}~${forwarded.digest}`;
}

/** The key of the group's shared data. */
export function groupKey({ forwarded }: Viewer, group: string): string {
  // A group can have any name. Escaping keeps its key from equaling the key of another group with a digest.
  return tenantKey(group.replaceAll('~', '~~'), forwarded);
}

/** For work that the request does not wait for, and that may outlive it by hours. */
export function lasting({ receipt, priority, requestId, trace, own, ...viewer }: Viewer): Viewer {
  return viewer;
}

/** For a feed's poll, which is never retried and yields to requests in the bulkhead. */
export function polling(viewer: Viewer): Viewer {
  return { ...viewer, priority: 'poll' };
}
