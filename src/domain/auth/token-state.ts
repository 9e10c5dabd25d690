import type { Proves } from '../../gateway/operation.ts';
import type { Account } from '../../lib/account.ts';
import type { Client } from '../../lib/limits/client.ts';
import type { Viewer } from './viewer.ts';

/** The evidence for a token: answers of the gateway, and its signature. */
export interface Evidence {
  readonly account: Account;
  readonly expiresAtMs: number | null;
  /** The client that limits are charged to while it is proved; a memo. */
  client: Client | null;
  /** The signature was verified here against a configured key. */
  readonly isSigned: boolean;
  /** The gateway has answered the snapshot of the token's own login with 200. */
  readonly ownsLogin: boolean;
  /** The time of the last 200 that proves the token. */
  readonly acceptedAtMs: number;
  readonly snapshotGroup: string | null;
  readonly snapshotAtMs: number;
  /** The time of the last 200 that proves a group, by group. */
  readonly catalogAtMs: ReadonlyMap<string, number>;
}

/** The gateway's refusal of a token. */
export interface Refusal {
  /** An acceptance of a call that began before this logical time no longer counts. */
  readonly atTime: number;
  readonly expiresAtMs: number | null;
  /** Whether its signature is valid: that of a forged token never counts, whatever is forgotten. */
  readonly isSigned: boolean;
  /** When a call on trial was last refused, by what such a refusal is about. */
  readonly trialsAtMs: ReadonlyMap<string, number>;
}

/** All that is known of a token; a part is null where there is nothing of it. */
export interface TokenState {
  readonly evidence: Evidence | null;
  readonly refusal: Refusal | null;
}

/** A token as its claims introduce it. */
export type Claimed = Pick<Viewer, 'account' | 'expiresAtMs'>;

/**
 * Something that changes what is known of a token. A refusal outlasts the evidence after it: a call that began before it,
 * and a signature, never count again; a 200 to a later call does.
 */
export type TokenEvent = (before: TokenState, claimed: Claimed) => TokenState;

const NO_TRIALS: ReadonlyMap<string, number> = new Map();
const NO_GROUP = { snapshotGroup: null, snapshotAtMs: -Infinity, catalogAtMs: NO_TRIALS };

/** Its signature is valid. */
export const signed: TokenEvent = ({ evidence, refusal }, claimed) =>
  refusal === null
    ? { evidence: { ...(evidence ?? nothingOf(claimed)), isSigned: true }, refusal }
    : { evidence, refusal: { ...refusal, isSigned: true } };

/** A 200. `group`: the catalog's, or the one that the snapshot names. */
export function accepted(
  proves: Exclude<Proves, 'nothing'>,
  group: string | null,
  atMs: number,
): TokenEvent {
  return ({ evidence, refusal }, claimed) => {
    const before = evidence ?? nothingOf(claimed);
    if (proves === 'group') {
      if (group === null) return { evidence, refusal };
      const catalogAtMs = new Map(before.catalogAtMs).set(group, atMs);
      return { evidence: { ...before, catalogAtMs }, refusal };
    }
    const snapshot =
      proves === 'token' ? {} : { ownsLogin: true, snapshotGroup: group, snapshotAtMs: atMs };
    return {
      evidence: { ...before, acceptedAtMs: atMs, ...snapshot },
      refusal: refusal && { ...refusal, trialsAtMs: NO_TRIALS },
    };
  };
}

/** A 401 at this logical time. `onTrial`: what the token was on trial for, for which calls pause a moment. */
export function refused(atTime: number, atMs: number, onTrial: string | null): TokenEvent {
  return ({ evidence, refusal }, { expiresAtMs }) => ({
    evidence: evidence && {
      ...evidence,
      ...NO_GROUP,
      isSigned: false,
      ownsLogin: false,
      acceptedAtMs: -Infinity,
    },
    refusal: {
      atTime,
      expiresAtMs,
      isSigned: evidence?.isSigned === true || refusal?.isSigned === true,
      trialsAtMs: onTrial
        ? new Map(refusal?.trialsAtMs).set(onTrial, atMs)
        : (refusal?.trialsAtMs ?? NO_TRIALS),
    },
  });
}

/** A 403 of op 1: whatever was evidence for this group is none any more. */
export function catalogForbidden(group: string): TokenEvent {
  return ({ evidence, refusal }) => {
    if (evidence === null) return { evidence, refusal };
    const catalogAtMs = new Map(evidence.catalogAtMs);
    catalogAtMs.delete(group);
    const snapshotAtMs = evidence.snapshotGroup === group ? -Infinity : evidence.snapshotAtMs;
    return { evidence: { ...evidence, catalogAtMs, snapshotAtMs }, refusal };
  };
}

/** A 403 of op 10: the account is none of this token's, and neither is its group. */
export const sessionForbidden: TokenEvent = ({ evidence, refusal }) => ({
  evidence: evidence && { ...evidence, ...NO_GROUP },
  refusal,
});

/** When the group was last proved. */
export function evidenceAtMs(
  group: string,
  { snapshotGroup, snapshotAtMs, catalogAtMs }: Evidence,
): number {
  const bySnapshotMs = snapshotGroup === group ? snapshotAtMs : -Infinity;
  return Math.max(bySnapshotMs, catalogAtMs.get(group) ?? -Infinity);
}

/** The evidence about a token that the gateway has not been asked about yet. */
function nothingOf({ account, expiresAtMs }: Claimed): Evidence {
  return {
    account,
    expiresAtMs,
    client: null,
    isSigned: false,
    ownsLogin: false,
    acceptedAtMs: -Infinity,
    ...NO_GROUP,
  };
}
