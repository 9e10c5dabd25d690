import { LRUCache } from 'lru-cache';
import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Viewer } from './viewer.ts';

// Not exported: nobody outside this file can make a proof, so a shared cache whose key is one
// cannot be opened by a claim.
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

/** What is known of one token. */
interface Entry {
  readonly login: string;
  /** Its signature was checked here against a configured key. */
  verified: boolean;
  /** Its own login's snapshot was once answered with 200. */
  ownsLogin: boolean;
  /** The last 200 that proves a token. */
  acceptedAtMs: number;
  snapshotGroup: string | null;
  /** The last 200 that proves a group, by group. */
  catalogAtMs: Map<string, number>;
  /** Acceptances of calls begun before this turn say nothing any more. */
  refusedAtTurn: number;
}

export interface ProofLedgerOptions {
  readonly clock: Clock;
  readonly proofMs: number;
  /** Forgetting a token costs it one more call of the gateway, never anybody's data. */
  readonly maxTokens?: number;
}

/** What the gateway has said of each token, and what that opens. */
export class ProofLedger {
  readonly #clock: Clock;
  readonly #proofMs: number;
  readonly #entries: LRUCache<string, Entry>;
  #turn = 0;

  constructor({ clock, proofMs, maxTokens = 100_000 }: ProofLedgerOptions) {
    this.#clock = clock;
    this.#proofMs = proofMs;
    this.#entries = new LRUCache({ max: maxTokens });
  }

  account(viewer: Viewer): AccountProof | null {
    const login = this.provedLogin(viewer.tokenHash);
    return login === null ? null : new AccountProof(seal, login);
  }

  /** Whose account a token is proved to be, for limits per account. */
  provedLogin(tokenHash: string): string | null {
    const entry = this.#entries.get(tokenHash);
    if (!entry) return null;
    const proved = entry.verified || (entry.ownsLogin && this.#isFresh(entry.acceptedAtMs));
    return proved ? entry.login : null;
  }

  /**
   * The login that a token names which the gateway has accepted lately. It is a claim still: op 11 and
   * op 13 do not say whose token they answered, and op 1's answer may come from a cache.
   */
  acceptedClaim(tokenHash: string): string | null {
    const entry = this.#entries.get(tokenHash);
    return entry !== undefined && this.#isFresh(entry.acceptedAtMs) ? entry.login : null;
  }

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

  /** Whether any call that proves the token would make it the account's again. */
  accountHasLapsed(viewer: Viewer): boolean {
    return this.#entries.get(viewer.tokenHash)?.ownsLogin === true && !this.account(viewer);
  }

  /** Whether any call that proves the token would open its group's catalog to it again. */
  groupHasLapsed(viewer: Viewer): boolean {
    const entry = this.#entries.get(viewer.tokenHash);
    const group = groupIn(entry, viewer);
    return entry !== undefined && wasProvedFor(group, entry) && !this.group(viewer);
  }

  /** Whether the gateway has accepted this token lately: what is kept for it alone may be served. */
  isAccepted(viewer: Viewer): boolean {
    const entry = this.#entries.get(viewer.tokenHash);
    return entry !== undefined && (entry.verified || this.#isFresh(entry.acceptedAtMs));
  }

  /** The group to read: the snapshot's where it names one, else the claim's. Opens nothing by itself. */
  groupOf(viewer: Viewer): string | null {
    return groupIn(this.#entries.get(viewer.tokenHash), viewer);
  }

  /** To be taken before a call and given back with its answer, so that an old 200 cannot undo a newer 401. */
  beginCall(): number {
    this.#turn += 1;
    return this.#turn;
  }

  verified(viewer: Viewer): void {
    const entry = this.#entry(viewer);
    // A key that still fits does not bring back a token that the gateway has refused since.
    if (entry.refusedAtTurn === 0) entry.verified = true;
  }

  /** A 200 to a call that began at `turn`; `group` is the one whose catalog it is, or that the snapshot names. */
  answered(
    viewer: Viewer,
    operation: OperationName,
    turn: number,
    group: string | null = null,
  ): void {
    const { proves } = OPERATIONS[operation];
    const entry = this.#entry(viewer);
    if (proves === 'nothing' || turn <= entry.refusedAtTurn) return;
    const nowMs = this.#clock.now();
    if (proves === 'group') {
      if (group !== null) entry.catalogAtMs.set(group, nowMs);
      return;
    }
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
    entry.verified = false;
    entry.ownsLogin = false;
    entry.acceptedAtMs = -Infinity;
    entry.snapshotGroup = null;
    entry.catalogAtMs.clear();
    entry.refusedAtTurn = this.beginCall();
  }

  #entry({ tokenHash, login }: Viewer): Entry {
    const known = this.#entries.get(tokenHash);
    if (known) return known;
    const entry: Entry = {
      login,
      verified: false,
      ownsLogin: false,
      acceptedAtMs: -Infinity,
      snapshotGroup: null,
      catalogAtMs: new Map(),
      refusedAtTurn: 0,
    };
    this.#entries.set(tokenHash, entry);
    return entry;
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
