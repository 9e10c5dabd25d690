import { LRUCache } from 'lru-cache';
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
  /** Op 10 has answered 200 to it for its login. */
  ownsLogin: boolean;
  /** The last time op 10, 11, 12 or 13 answered it with 200. */
  acceptedAtMs: number;
  snapshotGroup: string | null;
  /** Op 1's 200 by group. */
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
    if (!entry) return null;
    const group = groupIn(entry, viewer);
    if (group === null) return null;
    const catalogAtMs = entry.catalogAtMs.get(group) ?? -Infinity;
    const proved =
      entry.verified ||
      this.#isFresh(catalogAtMs) ||
      (this.#isFresh(entry.acceptedAtMs) &&
        (entry.snapshotGroup === group || catalogAtMs > -Infinity));
    return proved ? new GroupProof(seal, group) : null;
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

  accepted(viewer: Viewer, turn: number): void {
    const entry = this.#entry(viewer);
    if (turn > entry.refusedAtTurn) entry.acceptedAtMs = this.#clock.now();
  }

  snapshotAnswered(viewer: Viewer, group: string | null, turn: number): void {
    const entry = this.#entry(viewer);
    if (turn <= entry.refusedAtTurn) return;
    entry.acceptedAtMs = this.#clock.now();
    entry.ownsLogin = true;
    entry.snapshotGroup = group;
  }

  catalogAnswered(viewer: Viewer, group: string, turn: number): void {
    const entry = this.#entry(viewer);
    if (turn > entry.refusedAtTurn) entry.catalogAtMs.set(group, this.#clock.now());
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

function groupIn(entry: Entry | undefined, { claimedGroup }: Viewer): string | null {
  return entry?.snapshotGroup ?? claimedGroup;
}
