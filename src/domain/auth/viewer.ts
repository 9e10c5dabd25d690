import type { ForwardedHeaders } from '../../../lib/caller.ts';
import type { Token } from '../../../lib/token.ts';
import type { Trace } from '../../../lib/tracing/tracing.ts';
import type { SessionAnswer } from '../../gateway/answers.ts';
import type { Caller, ReceiptEntry } from '../../gateway/caller.ts';

/** The account and the group that a token claims to be of. */
export interface Identity {
  readonly token: Token;
  readonly forwarded: ForwardedHeaders | undefined;
  readonly login: string;
  /** The key of all that is shared within the account. */
  readonly account: string;
  readonly claimedGroup: string | null;
  readonly expiresAtMs: number | null;
  /** The login once the token is proved to have it. */
  readonly provedLogin: (viewer: Viewer) => string | null;
}

/** The reads that the viewer's own document makes anyway: each begins when it is first asked for. */
export interface OwnReads {
  /** Null where the document does not read the snapshot. */
  plannedSession(): Promise<SessionAnswer> | null;
  /** The other reads whose 200 proves the token. */
  plannedProofs(): readonly Promise<unknown>[];
}

/** Whoever sends other headers on may mean another account, or another catalog, by the same name. */
export function keyApart(name: string, forwarded: ForwardedHeaders | undefined): string {
  return forwarded === undefined ? name : `${name}~${forwarded.digest}`;
}

type Circumstances = Omit<Caller, 'token' | 'forwarded' | 'provedLogin'>;

/**
 * A caller with the identity that its token claims. Claims choose the gateway's path, and give no access to shared data
 * until the gateway has accepted this very token.
 */
export class Viewer implements Caller {
  readonly identity: Identity;
  readonly signal: AbortSignal | undefined;
  readonly client: Caller['client'];
  readonly requestId: string | undefined;
  readonly trace: Trace | undefined;
  readonly receipt: ((entry: ReceiptEntry) => void) | undefined;
  readonly priority: 'poll' | undefined;
  /** Undefined for work that no document waits for. */
  readonly own: OwnReads | undefined;

  constructor(identity: Identity, circumstances: Circumstances, own?: OwnReads) {
    this.identity = identity;
    this.signal = circumstances.signal;
    this.client = circumstances.client;
    this.requestId = circumstances.requestId;
    this.trace = circumstances.trace;
    this.receipt = circumstances.receipt;
    this.priority = circumstances.priority;
    this.own = own;
  }

  get token(): Token {
    return this.identity.token;
  }

  /** Entries private to one token are stored under this, never under the token. */
  get tokenHash(): string {
    return this.identity.token.hash;
  }

  get forwarded(): ForwardedHeaders | undefined {
    return this.identity.forwarded;
  }

  get login(): string {
    return this.identity.login;
  }

  get account(): string {
    return this.identity.account;
  }

  /** The key of all that is shared within a group. */
  groupKey(group: string): string {
    // A group may have any name, and none is to be the key of another with a digest.
    return keyApart(group.replaceAll('~', '~~'), this.forwarded);
  }

  get claimedGroup(): string | null {
    return this.identity.claimedGroup;
  }

  get expiresAtMs(): number | null {
    return this.identity.expiresAtMs;
  }

  provedLogin(): string | null {
    return this.identity.provedLogin(this);
  }

  /**
   * Without the request's AbortSignal, for a call that others may share or that must complete: the client
   * that happened to send it first must not be able to abort it for all.
   */
  detached(): Viewer {
    const { client, requestId, trace, receipt, priority } = this;
    return new Viewer(this.identity, { client, requestId, trace, receipt, priority }, this.own);
  }

  /** For a call that the request may begin, and does not wait for. */
  inBackground(): Viewer {
    const { client, requestId, trace } = this;
    return new Viewer(this.identity, { client, requestId, trace }, this.own);
  }

  /** For work that outlives the request by hours. */
  lasting(): Viewer {
    return new Viewer(this.identity, { client: this.client });
  }

  /** For a feed's poll, which is never retried and has its own bulkhead behind the requests. */
  polling(): Viewer {
    const { signal, client, requestId, trace, receipt } = this;
    const circumstances = { signal, client, requestId, trace, receipt, priority: 'poll' } as const;
    return new Viewer(this.identity, circumstances, this.own);
  }
}
