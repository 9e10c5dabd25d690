import { OPERATIONS, type OperationName } from '../../gateway/operations.ts';
import type { Account } from '../../lib/account.ts';
import type { RequestCaller, TokenStanding } from '../../lib/caller.ts';
import type { Clock, LogicalClock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { accountClient, type Client } from '../../lib/limits/client.ts';
import type { Token } from '../../lib/token.ts';
import {
  accepted,
  catalogForbidden,
  type Evidence,
  evidenceAtMs,
  type Refusal,
  refused,
  sessionForbidden,
  signed,
  type TokenEvent,
  type TokenState,
} from './token-state.ts';
import { groupKey, type Viewer } from './viewer.ts';

// Not exported, so that no other file can make a proof and no claim can become the key of a shared cache.
const seal: unique symbol = Symbol('proof');

/** Evidence that the gateway accepted a token as this login's. */
export class AccountProof {
  /** Keeps any other object of this shape from passing for one. */
  declare private readonly seal: typeof seal;
  /** The key of all that is shared within the account. */
  readonly account: Account;
  readonly tokenHash: string;

  constructor(_seal: typeof seal, account: Account, tokenHash: string) {
    this.account = account;
    this.tokenHash = tokenHash;
  }
}

/** Evidence that the gateway accepted a token as one that may read this group's catalog. */
export class GroupProof {
  declare private readonly seal: typeof seal;
  readonly group: string;
  /** The key of all that is shared within the group. */
  readonly key: string;
  /** True past its age: it is kept because the gateway could not be asked again. */
  readonly isKept: boolean;

  constructor(_seal: typeof seal, group: string, key: string, isKept: boolean) {
    this.group = group;
    this.key = key;
    this.isKept = isKept;
  }
}

/** The evidence for a token, for as long as the ledger holds it. */
interface Held {
  evidence: Evidence;
  isForgotten: boolean;
}

interface Questions {
  lookUp(tokenHash: string): Held | undefined;
  isProved(evidence: Evidence): boolean;
  isAccepted(evidence: Evidence): boolean;
  clientFor(evidence: Evidence): Client | null;
}

type Asking = Pick<Viewer, 'tokenHash' | 'standing'>;

/** Holds nothing of the request that has asked for it, which some of its viewers outlast. */
export class Standing implements TokenStanding {
  readonly tokenHash: string;
  readonly #ledger: Questions;
  #held: Held | undefined;

  constructor(tokenHash: string, ledger: Questions) {
    this.tokenHash = tokenHash;
    this.#ledger = ledger;
    this.#held = ledger.lookUp(tokenHash);
  }

  /** An answer of the gateway, a 401 in the middle of the request as well, changes what is held. */
  get evidence(): Evidence | undefined {
    if (this.#held === undefined || this.#held.isForgotten) {
      this.#held = this.#ledger.lookUp(this.tokenHash);
    }
    return this.#held?.evidence;
  }

  get isProved(): boolean {
    return this.evidence !== undefined && this.#ledger.isProved(this.evidence);
  }

  get isAccepted(): boolean {
    return this.evidence !== undefined && this.#ledger.isAccepted(this.evidence);
  }

  get client(): Client | null {
    return this.evidence === undefined ? null : this.#ledger.clientFor(this.evidence);
  }
}

/** A token that was refused on trial is not tried again for so long. */
const TRIAL_MS = 5_000;

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

export type ProofLedger = ReturnType<typeof createProofLedger>;

/** Records the gateway's answers to each token, and derives the token's access from them. */
export function createProofLedger({
  clock,
  logicalClock,
  proofMs,
  keptMs = 0,
  maxTokens = 100_000,
  onJudged = () => {},
}: ProofLedgerOptions) {
  const entries = growingLru<string, Held>({
    maxEntries: maxTokens,
    entryBytes: 680,
    onEvict: (held) => {
      held.isForgotten = true;
    },
  });
  const questions: Questions = { lookUp, isProved, isAccepted, clientFor };
  /** Until then a signature may be that of a token whose refusal is forgotten. */
  let forgottenUntilMs = -Infinity;
  /** A call that began before may be that of a token whose refusal is forgotten. */
  let forgottenAtTime = 0;
  /** Apart from the evidence, so that no number of accepted tokens makes a refusal forgotten. */
  const refusals = growingLru<string, Refusal>({
    maxEntries: maxTokens,
    // Nearly all are of tokens on trial, whose times are half of it.
    entryBytes: 450,
    onEvict: ({ atTime, expiresAtMs, isSigned }) => {
      forgottenAtTime = Math.max(forgottenAtTime, atTime);
      if (!isSigned) return;
      forgottenUntilMs = Math.max(forgottenUntilMs, expiresAtMs ?? Infinity);
    },
  });

  /** Returns the state before. */
  function record(viewer: Viewer, event: TokenEvent): TokenState {
    const { tokenHash } = viewer;
    const held = entries.get(tokenHash);
    const before = {
      evidence: held?.evidence ?? null,
      refusal: refusals.get(tokenHash) ?? null,
    };
    const { evidence, refusal } = event(before, viewer);
    // Readers of it see what has become of it.
    if (evidence !== null && held) held.evidence = evidence;
    else if (evidence !== null) entries.set(tokenHash, { evidence, isForgotten: false });
    if (refusal !== before.refusal && refusal !== null) refusals.set(tokenHash, refusal);
    return before;
  }

  function refusedAtTime({ tokenHash }: Viewer): number {
    return refusals.get(tokenHash)?.atTime ?? forgottenAtTime;
  }

  function isProved({ isSigned, ownsLogin, acceptedAtMs }: Evidence): boolean {
    return isSigned || (ownsLogin && isFresh(acceptedAtMs));
  }

  /** Recently: then entries cached for the token alone may be served. */
  function isAccepted({ isSigned, acceptedAtMs }: Evidence): boolean {
    return isSigned || isFresh(acceptedAtMs);
  }

  function clientFor(entry: Evidence): Client | null {
    const isLive = clock.date() < (entry.expiresAtMs ?? Infinity);
    if (!isLive || !isProved(entry)) return null;
    entry.client ??= accountClient(entry.account);
    return entry.client;
  }

  /** The evidence that the request has looked up; work that no request waits for looks it up here. */
  function evidenceOf({ tokenHash, standing }: Asking): Evidence | undefined {
    return standing instanceof Standing && standing.tokenHash === tokenHash
      ? standing.evidence
      : lookUp(tokenHash)?.evidence;
  }

  function lookUp(tokenHash: string): Held | undefined {
    return entries.get(tokenHash);
  }

  function account(viewer: Asking): AccountProof | null {
    const entry = evidenceOf(viewer);
    return entry && isProved(entry)
      ? new AccountProof(seal, entry.account, viewer.tokenHash)
      : null;
  }

  /** A signed claim counts, unless a snapshot that is young enough names another group. */
  function groupIn(entry: Evidence | undefined, { claimedGroup }: Viewer): string | null {
    const isSnapshotOld = entry?.isSigned === true && !isFresh(entry.snapshotAtMs);
    return (isSnapshotOld ? claimedGroup : null) ?? entry?.snapshotGroup ?? claimedGroup;
  }

  function isFresh(atMs: number): boolean {
    return clock.now() - atMs < proofMs;
  }

  return {
    get byteSize(): number {
      return entries.calculatedSize + refusals.calculatedSize;
    },
    account,
    /** Whether there is a proof of the viewer's account. */
    isProved(viewer: Asking): boolean {
      const entry = evidenceOf(viewer);
      return entry !== undefined && isProved(entry);
    },
    /** The standing of a token, for one request: `before` where that is of this very token. */
    standing: (token: Token, before?: RequestCaller['standing']): Standing =>
      before instanceof Standing && before.tokenHash === token.hash
        ? before
        : new Standing(token.hash, questions),
    /** The evidence is as old as its answer: a token that other calls prove may be one of an account that has moved. */
    group(viewer: Viewer): GroupProof | null {
      const entry = evidenceOf(viewer);
      const group = groupIn(entry, viewer);
      if (!entry || group === null) return null;
      const isSigned = entry.isSigned && group === viewer.claimedGroup;
      const isOpen = isSigned || isFresh(evidenceAtMs(group, entry));
      return isOpen ? new GroupProof(seal, group, groupKey(viewer, group), false) : null;
    },
    /** Evidence that is past its age, for a while in which the gateway cannot be asked again. */
    keptGroup(viewer: Viewer): GroupProof | null {
      const entry = evidenceOf(viewer);
      const group = groupIn(entry, viewer);
      if (!entry || group === null) return null;
      const ageMs = clock.now() - evidenceAtMs(group, entry);
      return ageMs < proofMs + keptMs
        ? new GroupProof(seal, group, groupKey(viewer, group), true)
        : null;
    },
    /** Whether any call that proves the token would make the account's proof valid again. */
    accountHasLapsed(viewer: Viewer): boolean {
      return evidenceOf(viewer)?.ownsLogin === true && !account(viewer);
    },
    /** Whether the gateway has accepted this token recently: then entries cached for it alone may be served. */
    isAccepted(viewer: Asking): boolean {
      const entry = evidenceOf(viewer);
      return entry !== undefined && isAccepted(entry);
    },
    /** The group to read: the snapshot's where it names one, else the claim's. It grants no access by itself. */
    groupOf(viewer: Viewer): string | null {
      return groupIn(evidenceOf(viewer), viewer);
    },
    /** Returns the logical time to pass to `answered`, so that an old 200 cannot undo a newer 401. */
    beginCall(): number {
      return logicalClock.next();
    },
    verified(viewer: Viewer): void {
      const isForgotten = clock.date() < forgottenUntilMs;
      const isKnown = refusals.has(viewer.tokenHash);
      if (isKnown || !isForgotten) record(viewer, signed);
    },
    /** Records a 200 to a call that began at `time`; `group` is the catalog's, or the one that the snapshot names. */
    answered(
      viewer: Viewer,
      operation: OperationName,
      time: number,
      group: string | null = null,
    ): void {
      const { proves } = OPERATIONS[operation];
      if (proves === 'nothing' || time <= refusedAtTime(viewer)) return;
      const { evidence } = record(viewer, accepted(proves, group, clock.now()));
      const isNews = proves !== 'group' && (evidence?.acceptedAtMs ?? -Infinity) === -Infinity;
      if (isNews) onJudged('accepted', viewer);
    },
    catalogForbidden(viewer: Viewer, group: string): void {
      record(viewer, catalogForbidden(group));
    },
    sessionForbidden(viewer: Viewer): void {
      record(viewer, sessionForbidden);
    },
    /** `onTrial`: the operation, where the token was on trial. */
    refused(viewer: Viewer, onTrial: OperationName | null = null): void {
      const concern = onTrial && concernOf(onTrial);
      const event = refused(logicalClock.next(), clock.now(), concern);
      const { evidence, refusal } = record(viewer, event);
      const hadCounted =
        evidence !== null && (evidence.acceptedAtMs !== -Infinity || evidence.isSigned);
      if (refusal === null || hadCounted) onJudged('refused', viewer);
    },
    /** Whether the gateway has just refused it on trial for what a call of the operation would be about. */
    isTried({ tokenHash }: Viewer, operation: OperationName): boolean {
      const atMs = refusals.get(tokenHash)?.trialsAtMs.get(concernOf(operation));
      return atMs !== undefined && clock.now() - atMs < TRIAL_MS;
    },
  };
}

/** A 401 of a read that proves is about the token, so about all such reads; a write's is about that write. */
function concernOf(operation: OperationName): string {
  return OPERATIONS[operation].proves === 'nothing' ? operation : 'proof';
}
