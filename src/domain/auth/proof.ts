import type { LRUCache } from 'lru-cache';
import type { Caller } from '../../gateway/caller.ts';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import { type Clock, LogicalClock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { accountClient, addressClient, type Client } from '../../lib/limits/client.ts';
import { tokenHash } from '../../lib/token-hash.ts';
import type { Viewer } from './viewer.ts';

// Not exported, so that no other file can make a proof and no claim can become the key of a shared cache.
const seal: unique symbol = Symbol('proof');

/** Evidence that the gateway accepted a token as this login's. */
export class AccountProof {
  readonly #login: string;

  constructor(_key: typeof seal, login: string) {
    this.#login = login;
  }

  get login(): string {
    return this.#login;
  }
}

/** Evidence that the gateway accepted a token as one that may read this group's catalog. */
export class GroupProof {
  readonly #group: string;

  constructor(_key: typeof seal, group: string) {
    this.#group = group;
  }

  get group(): string {
    return this.#group;
  }
}

/** The evidence about one token. */
interface Entry {
  readonly login: string;
  readonly expiresAtMs: number | null;
  /** The client that limits are charged to while it is proved. */
  client: Client | null;
  /** The signature was verified here against a configured key. */
  verified: boolean;
  /** The gateway has answered the snapshot of the token's own login with 200. */
  ownsLogin: boolean;
  /** The time of the last 200 that proves the token. */
  acceptedAtMs: number;
  snapshotGroup: string | null;
  /** The time of the last 200 that proves a group, by group. */
  catalogAtMs: Map<string, number>;
}

interface TokenRefusal {
  /** An acceptance of a call that began before this logical time no longer counts. */
  readonly atTime: number;
  readonly expiresAtMs: number | null;
  /** Whether its signature is valid: that of a forged token never counts, whatever is forgotten. */
  readonly isSigned: boolean;
}

export interface ProofLedgerOptions {
  readonly clock: Clock;
  readonly proofMs: number;
  /** Evicting a token costs one more gateway call and exposes no data. */
  readonly maxTokens?: number;
  /** Called when the gateway first accepts a token, and when it refuses one that it has not refused before. */
  readonly onJudged?: (verdict: 'accepted' | 'refused', viewer: Viewer) => void;
}

/** Returns the client that a caller's requests are charged to. */
export type ClientOf = (caller: Caller) => Client;

/** Records the gateway's answers to each token, and derives the token's access from them. */
export class ProofLedger {
  readonly #clock: Clock;
  readonly #proofMs: number;
  readonly #entries: LRUCache<string, Entry>;
  readonly #onJudged: NonNullable<ProofLedgerOptions['onJudged']>;
  readonly #logicalClock = new LogicalClock();
  /** Apart from the evidence, so that no number of accepted tokens makes a refusal forgotten. */
  readonly #refusals: LRUCache<string, TokenRefusal>;
  /** Until then a signature may be that of a token whose refusal is forgotten. */
  #forgottenUntilMs = Number.NEGATIVE_INFINITY;
  /** A call that began before may be that of a token whose refusal is forgotten. */
  #forgottenAtTime = 0;

  constructor({ clock, proofMs, maxTokens = 100_000, onJudged }: ProofLedgerOptions) {
    this.#onJudged = onJudged ?? (() => {});
    this.#clock = clock;
    this.#proofMs = proofMs;
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
    return entry && this.#isProved(entry) ? new AccountProof(seal, entry.login) : null;
  }

  /**
   * A proved account whose token is live, else the address: a token that merely names an account, or has ended, must
   * not be able to use up what its owner may do.
   */
  readonly clientOf: ClientOf = ({ token, hashed, client }) => {
    const hash = token === null ? '' : tokenHash(token, hashed);
    const entry = this.#entries.get(hash);
    const isLive = this.#clock.date() < (entry?.expiresAtMs ?? Infinity);
    if (!entry || !isLive || !this.#isProved(entry)) return addressClient(client?.address);
    entry.client ??= accountClient(entry.login, hash);
    return entry.client;
  };

  group(viewer: Viewer): GroupProof | null {
    const entry = this.#entries.get(viewer.tokenHash);
    const group = groupIn(entry, viewer);
    if (!entry || group === null) return null;
    const proved =
      entry.verified ||
      this.#isFresh(entry.catalogAtMs.get(group) ?? -Infinity) ||
      (this.#isFresh(entry.acceptedAtMs) && wasProvedFor(group, entry));
    return proved ? new GroupProof(seal, group) : null;
  }

  /** Whether any call that proves the token would make the account's proof valid again. */
  accountHasLapsed(viewer: Viewer): boolean {
    return this.#entries.get(viewer.tokenHash)?.ownsLogin === true && !this.account(viewer);
  }

  /** Whether any call that proves the token would make its group's proof valid again. */
  groupHasLapsed(viewer: Viewer): boolean {
    const entry = this.#entries.get(viewer.tokenHash);
    const group = groupIn(entry, viewer);
    return entry !== undefined && wasProvedFor(group, entry) && !this.group(viewer);
  }

  /** Whether the gateway has accepted this token recently: then entries cached for it alone may be served. */
  isAccepted({ tokenHash }: Pick<Viewer, 'tokenHash'>): boolean {
    const entry = this.#entries.get(tokenHash);
    return entry !== undefined && (entry.verified || this.#isFresh(entry.acceptedAtMs));
  }

  /** The group to read: the snapshot's where it names one, else the claim's. It grants no access by itself. */
  groupOf(viewer: Viewer): string | null {
    return groupIn(this.#entries.get(viewer.tokenHash), viewer);
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
  }

  catalogForbidden(viewer: Viewer, group: string): void {
    this.#entry(viewer).catalogAtMs.delete(group);
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
    entry.snapshotGroup = null;
    entry.catalogAtMs.clear();
    this.#refusals.set(tokenHash, { atTime: this.beginCall(), expiresAtMs, isSigned });
  }

  #entry({ tokenHash, login, expiresAtMs }: Viewer): Entry {
    const known = this.#entries.get(tokenHash);
    if (known) return known;
    const entry: Entry = {
      login,
      expiresAtMs,
      client: null,
      verified: false,
      ownsLogin: false,
      acceptedAtMs: -Infinity,
      snapshotGroup: null,
      catalogAtMs: new Map(),
    };
    this.#entries.set(tokenHash, entry);
    return entry;
  }

  #refusedAtTime({ tokenHash }: Viewer): number {
    return this.#refusals.get(tokenHash)?.atTime ?? this.#forgottenAtTime;
  }

  #isProved({ verified, ownsLogin, acceptedAtMs }: Entry): boolean {
    return verified || (ownsLogin && this.#isFresh(acceptedAtMs));
  }

  #isFresh(atMs: number): boolean {
    return this.#clock.now() - atMs < this.#proofMs;
  }
}

function wasProvedFor(group: string | null, { snapshotGroup, catalogAtMs }: Entry): boolean {
  return group !== null && (snapshotGroup === group || catalogAtMs.has(group));
}

function groupIn(entry: Entry | undefined, { claimedGroup }: Viewer): string | null {
  return entry?.snapshotGroup ?? claimedGroup;
}
