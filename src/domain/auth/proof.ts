import type { LRUCache } from 'lru-cache';
import type { Clock, LogicalClock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import { accountClient, addressClient, type ClientOf } from '../../../lib/limits/client.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import { evidenceAtMs, forgetGroup, noEvidence, type TokenEvidence } from './token-evidence.ts';
import type { Viewer } from './viewer.ts';

// Not exported, so that no other file can make a proof and no claim can become the key of a shared cache.
const seal: unique symbol = Symbol('proof');

/** Evidence that the gateway accepted a token as this login's. */
export class AccountProof {
  readonly #account: string;
  readonly #tokenHash: string;

  constructor(_key: typeof seal, account: string, tokenHash: string) {
    this.#account = account;
    this.#tokenHash = tokenHash;
  }

  /** The key of all that is shared within the account. */
  get account(): string {
    return this.#account;
  }

  get tokenHash(): string {
    return this.#tokenHash;
  }
}

/** Evidence that the gateway accepted a token as one that may read this group's catalog. */
export class GroupProof {
  readonly #group: string;
  readonly #key: string;
  /** Past its age, and kept because the gateway could not be asked again. */
  readonly isKept: boolean;

  constructor(_seal: typeof seal, group: string, key: string, isKept: boolean) {
    this.#group = group;
    this.#key = key;
    this.isKept = isKept;
  }

  get group(): string {
    return this.#group;
  }

  /** The key of all that is shared within the group. */
  get key(): string {
    return this.#key;
  }
}

/** A gateway that fails is asked by a few readers of a token, and not by each. */
const GROUP_RETRY_MS = 10_000;

interface TokenRefusal {
  /** An acceptance of a call that began before this logical time no longer counts. */
  readonly atTime: number;
  readonly expiresAtMs: number | null;
  /** Whether its signature is valid: that of a forged token never counts, whatever is forgotten. */
  readonly isSigned: boolean;
}

export interface ProofLedgerOptions {
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
  readonly proofMs: number;
  /** How much longer a group's evidence serves while the gateway cannot be asked again. */
  readonly keptMs?: number;
  /** Evicting a token costs one more gateway call and exposes no data. */
  readonly maxTokens?: number;
  /** Called when the gateway first accepts a token, and when it refuses one that it has not refused before. */
  readonly onJudged?: (verdict: 'accepted' | 'refused', viewer: Viewer) => void;
}

/** Records the gateway's answers to each token, and derives the token's access from them. */
export class ProofLedger {
  readonly #clock: Clock;
  readonly #proofMs: number;
  readonly #keptMs: number;
  readonly #entries: LRUCache<string, TokenEvidence>;
  readonly #onJudged: NonNullable<ProofLedgerOptions['onJudged']>;
  readonly #logicalClock: LogicalClock;
  /** Apart from the evidence, so that no number of accepted tokens makes a refusal forgotten. */
  readonly #refusals: LRUCache<string, TokenRefusal>;
  /** Until then a signature may be that of a token whose refusal is forgotten. */
  #forgottenUntilMs = Number.NEGATIVE_INFINITY;
  /** A call that began before may be that of a token whose refusal is forgotten. */
  #forgottenAtTime = 0;

  constructor(options: ProofLedgerOptions) {
    const { clock, logicalClock, proofMs, keptMs = 0, maxTokens = 100_000, onJudged } = options;
    this.#logicalClock = logicalClock;
    this.#onJudged = onJudged ?? (() => {});
    this.#clock = clock;
    this.#proofMs = proofMs;
    this.#keptMs = keptMs;
    this.#entries = growingLru({ maxEntries: maxTokens, entryBytes: 650 });
    this.#refusals = growingLru({
      maxEntries: maxTokens,
      entryBytes: 180,
      onEvict: ({ atTime, expiresAtMs, isSigned }) => {
        this.#forgottenAtTime = Math.max(this.#forgottenAtTime, atTime);
        if (!isSigned) return;
        this.#forgottenUntilMs = Math.max(this.#forgottenUntilMs, expiresAtMs ?? Infinity);
      },
    });
  }

  get byteSize(): number {
    return this.#entries.calculatedSize + this.#refusals.calculatedSize;
  }

  account({ tokenHash }: Viewer): AccountProof | null {
    const entry = this.#entries.get(tokenHash);
    return entry && this.#isProved(entry) ? new AccountProof(seal, entry.account, tokenHash) : null;
  }

  /**
   * A proved account whose token is live, else the address: a token that merely names an account, or has ended, must
   * not be able to use up what its owner may do.
   */
  readonly clientOf: ClientOf = ({ token, client }) => {
    const hash = token?.hash ?? '';
    const entry = this.#entries.get(hash);
    const isLive = this.#clock.date() < (entry?.expiresAtMs ?? Infinity);
    if (!entry || !isLive || !this.#isProved(entry)) return addressClient(client?.address);
    entry.client ??= accountClient(entry.account, hash);
    return entry.client;
  };

  /** The evidence is as old as its answer: a token that other calls prove may be one of an account that has moved. */
  group(viewer: Viewer): GroupProof | null {
    const entry = this.#entries.get(viewer.tokenHash);
    const group = this.#groupIn(entry, viewer);
    if (!entry || group === null) return null;
    const isSigned = entry.verified && group === viewer.claimedGroup;
    const isProved = isSigned || this.#isFresh(evidenceAtMs(group, entry));
    return isProved ? new GroupProof(seal, group, viewer.groupKey(group), false) : null;
  }

  /** Evidence that is past its age, for a while in which the gateway cannot be asked again. */
  keptGroup(viewer: Viewer): GroupProof | null {
    const entry = this.#entries.get(viewer.tokenHash);
    const group = this.#groupIn(entry, viewer);
    if (!entry || group === null) return null;
    const ageMs = this.#clock.now() - evidenceAtMs(group, entry);
    return ageMs < this.#proofMs + this.#keptMs
      ? new GroupProof(seal, group, viewer.groupKey(group), true)
      : null;
  }

  /** Whether the gateway failed to say so recently that it is not asked again yet. */
  hasGroupFailed({ tokenHash }: Viewer): boolean {
    const failedAtMs = this.#entries.get(tokenHash)?.groupFailedAtMs ?? -Infinity;
    return this.#clock.now() - failedAtMs < GROUP_RETRY_MS;
  }

  groupFailed(viewer: Viewer): void {
    this.#entry(viewer).groupFailedAtMs = this.#clock.now();
  }

  /** Whether any call that proves the token would make the account's proof valid again. */
  accountHasLapsed(viewer: Viewer): boolean {
    return this.#entries.get(viewer.tokenHash)?.ownsLogin === true && !this.account(viewer);
  }

  /** Whether the gateway has accepted this token recently: then entries cached for it alone may be served. */
  isAccepted({ tokenHash }: Pick<Viewer, 'tokenHash'>): boolean {
    const entry = this.#entries.get(tokenHash);
    return entry !== undefined && (entry.verified || this.#isFresh(entry.acceptedAtMs));
  }

  /** The group to read: the snapshot's where it names one, else the claim's. It grants no access by itself. */
  groupOf(viewer: Viewer): string | null {
    return this.#groupIn(this.#entries.get(viewer.tokenHash), viewer);
  }

  /** Returns the logical time to pass to `answered`, so that an old 200 cannot undo a newer 401. */
  beginCall(): number {
    return this.#logicalClock.next();
  }

  verified(viewer: Viewer): void {
    const refusal = this.#refusals.get(viewer.tokenHash);
    if (refusal !== undefined) {
      // A valid signature does not restore a token that the gateway has refused since.
      if (!refusal.isSigned) this.#refusals.set(viewer.tokenHash, { ...refusal, isSigned: true });
      return;
    }
    if (this.#clock.date() < this.#forgottenUntilMs) return;
    this.#entry(viewer).verified = true;
  }

  /** Records a 200 to a call that began at `logicalTime`; `group` is the catalog's, or the one that the snapshot names. */
  answered(
    viewer: Viewer,
    operation: OperationName,
    logicalTime: number,
    group: string | null = null,
  ): void {
    const { proves } = OPERATIONS[operation];
    if (proves === 'nothing' || logicalTime <= this.#refusedAtTime(viewer)) return;
    const entry = this.#entry(viewer);
    const nowMs = this.#clock.now();
    if (proves === 'group') {
      if (group !== null) entry.catalogAtMs.set(group, nowMs);
      return;
    }
    if (entry.acceptedAtMs === -Infinity) this.#onJudged('accepted', viewer);
    entry.acceptedAtMs = nowMs;
    if (proves === 'token') return;
    entry.ownsLogin = true;
    entry.snapshotGroup = group;
    entry.snapshotAtMs = nowMs;
  }

  /** A 403 of op 1: whatever was evidence for this group is none any more. */
  catalogForbidden(viewer: Viewer, group: string): void {
    const entry = this.#entry(viewer);
    entry.catalogAtMs.delete(group);
    if (entry.snapshotGroup === group) entry.snapshotAtMs = -Infinity;
  }

  /** A 403 of op 10: the account is none of this token's, and neither is its group. */
  sessionForbidden(viewer: Viewer): void {
    forgetGroup(this.#entry(viewer));
  }

  refused(viewer: Viewer): void {
    const entry = this.#entry(viewer);
    const { tokenHash, expiresAtMs } = viewer;
    const before = this.#refusals.get(tokenHash);
    const isNews = before === undefined || entry.acceptedAtMs !== -Infinity || entry.verified;
    const isSigned = entry.verified || before?.isSigned === true;
    if (isNews) this.#onJudged('refused', viewer);
    entry.verified = false;
    entry.ownsLogin = false;
    entry.acceptedAtMs = -Infinity;
    forgetGroup(entry);
    this.#refusals.set(tokenHash, { atTime: this.beginCall(), expiresAtMs, isSigned });
  }

  #entry({ tokenHash, account, expiresAtMs }: Viewer): TokenEvidence {
    const known = this.#entries.get(tokenHash);
    if (known) return known;
    const entry = noEvidence(account, expiresAtMs);
    this.#entries.set(tokenHash, entry);
    return entry;
  }

  #refusedAtTime({ tokenHash }: Viewer): number {
    return this.#refusals.get(tokenHash)?.atTime ?? this.#forgottenAtTime;
  }

  #isProved({ verified, ownsLogin, acceptedAtMs }: TokenEvidence): boolean {
    return verified || (ownsLogin && this.#isFresh(acceptedAtMs));
  }

  /** A signed claim counts, unless a snapshot that is young enough names another group. */
  #groupIn(entry: TokenEvidence | undefined, { claimedGroup }: Viewer): string | null {
    const isSnapshotOld = entry?.verified === true && !this.#isFresh(entry.snapshotAtMs);
    return (isSnapshotOld ? claimedGroup : null) ?? entry?.snapshotGroup ?? claimedGroup;
  }

  #isFresh(atMs: number): boolean {
    return this.#clock.now() - atMs < this.#proofMs;
  }
}
