import type { LRUCache } from 'lru-cache';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import {
  ACCOUNT,
  type Account,
  type freshBrand,
  LOGIN,
  type Login,
  ProvedAccount,
} from '../../lib/account.ts';
import { growingLru, memo } from '../../lib/caches.ts';
import type { Clock, LogicalClock } from '../../lib/clock.ts';
import {
  accountClient,
  type Client,
  type Token,
  type TokenStatus,
} from '../../lib/limits/request-caller.ts';
import { groupKey, loginOf, type Viewer } from './viewer.ts';

// Not exported: no other file can make a proof, so no claim can become the key of a shared cache.
const seal: unique symbol = Symbol('proof');

/** Evidence that the gateway accepted a token as this login's. */
export class AccountProof extends ProvedAccount {
  /** The key of the account's shared data. */
  readonly [ACCOUNT]: Account;
  readonly tokenHash: string;

  constructor(_seal: typeof seal, account: Account, tokenHash: string) {
    super();
    this[ACCOUNT] = account;
    this.tokenHash = tokenHash;
  }

  get [LOGIN](): Login {
    return loginOf(this[ACCOUNT]);
  }
}

/** Evidence from a gateway call of the present request, for a write that nobody checks after this service. */
export class FreshAccountProof extends AccountProof {
  declare readonly [freshBrand]: true;
}

/** Evidence that the gateway lets a token read this group's catalog. */
export class GroupProof {
  /** Keeps TypeScript from accepting another object of this shape. */
  declare private readonly seal: typeof seal;
  readonly group: string;
  /** The key of the group's shared data. */
  readonly key: string;

  constructor(_seal: typeof seal, group: string, key: string) {
    this.group = group;
    this.key = key;
  }
}

export interface ProofLedgerOptions {
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
  readonly proofMs: number;
  /** Evicting a token costs one more gateway call and exposes no data. */
  readonly maxTokens?: number;
  /** Called when the gateway first accepts a token, and when it refuses one. Repeated answers are not reported. */
  readonly onJudged?: (verdict: 'accepted' | 'refused') => void;
}

/** The gateway's refusal of a token. It outlives the evidence, so no earlier call's 200 and no signature counts again. */
interface Refusal {
  /** Answers to calls that began before this logical time do not count. */
  readonly atTime: number;
  readonly expiresAtMs: number | null;
  /** Whether the token's signature is valid. A forged token's refusal can be forgotten, as its signature proves nothing. */
  isSigned: boolean;
}

type TokenHolder = Pick<Viewer, 'tokenHash'>;

/** Records the gateway's answers to each token, and derives the token's access from them. */
export class ProofLedger {
  readonly #options: ProofLedgerOptions;
  readonly #evidence: LRUCache<string, TokenEvidence>;
  /** Separate from the evidence, so accepted tokens cannot evict a refusal. */
  readonly #refusals: LRUCache<string, Refusal>;
  /** Answers to calls that began before this logical time do not count: the token's refusal may have been evicted. */
  #evictedAtTime = 0;
  readonly #refusalListeners: ((viewer: Viewer) => void)[] = [];
  /** Signatures do not count before this date: the token's refusal may have been evicted. */
  #evictedUntilMs = -Infinity;

  constructor(options: ProofLedgerOptions) {
    const { maxTokens: maxEntries = 100_000 } = options;
    this.#options = options;
    this.#evidence = growingLru({ maxEntries, entryBytes: 480 });
    this.#refusals = growingLru({
      maxEntries,
      entryBytes: 250,
      onEvict: ({ atTime, expiresAtMs, isSigned }) => {
        this.#evictedAtTime = Math.max(this.#evictedAtTime, atTime);
        if (!isSigned) return;
        this.#evictedUntilMs = Math.max(this.#evictedUntilMs, expiresAtMs ?? Infinity);
      },
    });
  }

  get byteSize(): number {
    return this.#evidence.calculatedSize + this.#refusals.calculatedSize;
  }

  /** The listener is called in the turn in which the gateway's refusal of a token has arrived. */
  onRefused(listener: (viewer: Viewer) => void): void {
    this.#refusalListeners.push(listener);
  }

  /** The status of a token for the engine, always as of the latest answer. */
  tokenStatus({ hash: tokenHash }: Pick<Token, 'hash'>): TokenStatus {
    return new LiveTokenStatus(this, tokenHash);
  }

  account(token: TokenHolder): AccountProof | null {
    const evidence = this.#accepted(token, 'login');
    return evidence && new AccountProof(seal, evidence.account, token.tokenHash);
  }

  /** The same, once a call of the present request has answered. */
  freshAccount(token: TokenHolder, _answer: SessionAnswer): FreshAccountProof | null {
    const evidence = this.#accepted(token, 'login');
    return evidence && new FreshAccountProof(seal, evidence.account, token.tokenHash);
  }

  isProved(token: TokenHolder): boolean {
    return this.#accepted(token, 'login') !== null;
  }

  /** Whether the gateway accepted the token recently, or its signature is valid. Then its cached entries may be served. */
  isAccepted(token: TokenHolder): boolean {
    return this.#accepted(token) !== null;
  }

  /** The client that limits are charged to; null if no account is proved, or the token has expired. */
  clientFor(token: TokenHolder): Client | null {
    const evidence = this.#accepted(token, 'login');
    const isValid = this.#options.clock.date() < (evidence?.expiresAtMs ?? Infinity);
    return evidence !== null && isValid ? accountClient(evidence.account) : null;
  }

  /** Whether the account's proof has lapsed. Then any call that proves the token renews it. False if none ever existed. */
  accountHasLapsed(token: TokenHolder): boolean {
    return this.#evidence.get(token.tokenHash)?.ownsLogin === true && !this.isProved(token);
  }

  /**
   * Proof of the token's group. The token itself must be accepted as well, because a 200 of op 1 can come from a cache that
   * never saw the token. The proof is as old as the last answer that named the group: the account may have moved since.
   */
  group(viewer: Viewer): GroupProof | null {
    const evidence = this.#accepted(viewer);
    const group = this.groupOf(viewer);
    if (group === null || evidence === null) return null;
    const isSigned = evidence.isSigned && group === viewer.claimedGroup;
    if (!isSigned && evidence.groupAtMs(group) <= this.#earliestMs) return null;
    return new GroupProof(seal, group, groupKey(viewer, group));
  }

  /** The group to read: the snapshot's group if the snapshot names one, otherwise the claimed group. No proof of access. */
  groupOf({ tokenHash, claimedGroup }: Viewer): string | null {
    const evidence = this.#evidence.get(tokenHash);
    // A signed claim takes precedence over a snapshot that is no longer fresh.
    const isClaimFirst = evidence?.isSigned === true && evidence.snapshotAtMs <= this.#earliestMs;
    if (isClaimFirst && claimedGroup !== null) return claimedGroup;
    return evidence?.snapshotGroup ?? claimedGroup;
  }

  /** Returns the logical time to pass to `answered`, so that an old 200 cannot undo a newer 401. */
  beginCall(): number {
    return this.#options.logicalClock.next();
  }

  verified(viewer: Viewer): void {
    const refusal = this.#refusals.get(viewer.tokenHash);
    if (refusal !== undefined) {
      refusal.isSigned = true;
      return;
    }
    if (this.#options.clock.date() >= this.#evictedUntilMs)
      this.#evidenceOf(viewer).isSigned = true;
  }

  /** Records a 200 to a call that began at `time`. `group` is the catalog's group, or the group that the snapshot names. */
  answered(viewer: Viewer, operation: OperationName, time: number, group: string | null = null) {
    const { proves } = OPERATIONS[operation];
    const refusedAtTime = this.#refusals.get(viewer.tokenHash)?.atTime ?? this.#evictedAtTime;
    if (proves === 'nothing' || time <= refusedAtTime) return;
    const evidence = this.#evidenceOf(viewer);
    const atMs = this.#options.clock.now();
    if (proves === 'group') {
      if (group !== null) evidence.provesCatalog(group, atMs);
      return;
    }
    const isFirst = evidence.acceptedAtMs === -Infinity;
    if (isFirst) this.#options.onJudged?.('accepted');
    if (proves === 'login') evidence.provesLogin(group, atMs);
    else evidence.acceptedAtMs = atMs;
  }

  /** Records a 403 of op 1 for a group, or of op 10, which names no group. */
  forbidden({ tokenHash }: TokenHolder, group: string | null): void {
    this.#evidence.get(tokenHash)?.losesGroup(group);
  }

  /** Records a 401 of any operation. */
  refused(viewer: Viewer): void {
    const { tokenHash, expiresAtMs } = viewer;
    const evidence = this.#evidence.get(tokenHash);
    const wasAccepted =
      evidence !== undefined && (evidence.isSigned || evidence.acceptedAtMs !== -Infinity);
    const former = this.#refusals.get(tokenHash);
    const isRepeated = former !== undefined && !wasAccepted;
    const isSigned = evidence?.isSigned === true || former?.isSigned === true;
    evidence?.losesAll();
    const atTime = this.#options.logicalClock.next();
    this.#refusals.set(tokenHash, { atTime, expiresAtMs, isSigned });
    if (!isRepeated) this.#options.onJudged?.('refused');
    for (const listener of this.#refusalListeners) listener(viewer);
  }

  #evidenceOf(viewer: Viewer): TokenEvidence {
    const make = () => new TokenEvidence(viewer);
    return memo<string, TokenEvidence>(this.#evidence, viewer.tokenHash, make);
  }

  /** The evidence of an accepted token. With `login`, only if it also proves the token's login. */
  #accepted({ tokenHash }: TokenHolder, login?: 'login'): TokenEvidence | null {
    const evidence = this.#evidence.get(tokenHash);
    if (evidence === undefined || evidence.isSigned) return evidence ?? null;
    if (login !== undefined && !evidence.ownsLogin) return null;
    return evidence.acceptedAtMs > this.#earliestMs ? evidence : null;
  }

  /** An answer from this time or before is no proof any more. */
  get #earliestMs(): number {
    const { clock, proofMs } = this.#options;
    return clock.now() - proofMs;
  }
}

/** Keeps the token's hash alone, because some viewers outlive their request. No text of it names the account. */
class LiveTokenStatus implements TokenStatus {
  readonly #ledger: ProofLedger;
  readonly #token: TokenHolder;

  constructor(ledger: ProofLedger, tokenHash: string) {
    this.#ledger = ledger;
    this.#token = { tokenHash };
  }

  get isAccepted(): boolean {
    return this.#ledger.isAccepted(this.#token);
  }

  get provedClient(): Client | null {
    return this.#ledger.clientFor(this.#token);
  }
}

export class TokenEvidence {
  readonly account: Account;
  readonly expiresAtMs: number | null;
  /** Whether this service verified the token's signature with a configured key. */
  isSigned = false;
  /** Whether the gateway has answered the snapshot of the token's own login with 200. */
  ownsLogin = false;
  /** When a 200 last proved the token; -Infinity if none has. */
  acceptedAtMs = -Infinity;
  /** The group that the last snapshot named, and when that snapshot arrived. */
  snapshotGroup: string | null = null;
  snapshotAtMs = -Infinity;
  #catalogGroup: string | null = null;
  #catalogAtMs = -Infinity;

  constructor({ [ACCOUNT]: account, expiresAtMs }: Pick<Viewer, typeof ACCOUNT | 'expiresAtMs'>) {
    this.account = account;
    this.expiresAtMs = expiresAtMs;
  }

  /** When an answer last proved the group; -Infinity if none has. */
  groupAtMs(group: string): number {
    return Math.max(
      this.snapshotGroup === group ? this.snapshotAtMs : -Infinity,
      this.#catalogGroup === group ? this.#catalogAtMs : -Infinity,
    );
  }

  provesCatalog(group: string, atMs: number): void {
    this.#catalogGroup = group;
    this.#catalogAtMs = atMs;
  }

  /** Records a 200 of op 10 for the token's own login. */
  provesLogin(group: string | null, atMs: number): void {
    this.ownsLogin = true;
    this.acceptedAtMs = atMs;
    this.snapshotGroup = group;
    this.snapshotAtMs = atMs;
  }

  /** Records a 403 of op 1 for a group, or of op 10, which ends the evidence of every group. */
  losesGroup(group: string | null): void {
    if (group === null || group === this.#catalogGroup) this.#catalogAtMs = -Infinity;
    if (group === null || group === this.snapshotGroup) this.snapshotAtMs = -Infinity;
    if (group === null) this.snapshotGroup = null;
  }

  losesAll(): void {
    this.losesGroup(null);
    this.isSigned = false;
    this.ownsLogin = false;
    this.acceptedAtMs = -Infinity;
  }
}
