import type { Client } from '../../../lib/limits/client.ts';
import type { Proves } from '../../gateway/operations.ts';

/** The evidence for a token: answers of the gateway, and its signature. */
export interface Evidence {
  readonly account: string;
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
  /** When the group was last to be proved again, and the gateway could not say. */
  readonly groupFailedAtMs: number;
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
export interface Claimed {
  readonly account: string;
  readonly expiresAtMs: number | null;
}

interface Times {
  /** Logical, of a call's beginning or of this moment. */
  readonly time: number;
  readonly atMs: number;
}

/** The events that change what is known of a token. */
export interface TokenEvents {
  signed: object;
  /** A 200 to a call that began at `time`. `group`: the catalog's, or the one that the snapshot names. */
  accepted: Times & {
    readonly proves: Exclude<Proves, 'nothing'>;
    readonly group: string | null;
  };
  /** A 401. `onTrial`: what it is about, where the token was on trial: calls about the same are not made for a moment. */
  refused: Times & { readonly onTrial: string | null };
  /** A 403 of op 1: whatever was evidence for this group is none any more. */
  catalogForbidden: { readonly group: string };
  /** A 403 of op 10: the account is none of this token's, and neither is its group. */
  sessionForbidden: object;
  /** The gateway could not say whether its group is still the same. */
  groupFailed: Pick<Times, 'atMs'>;
}

type Transitions = {
  readonly [Name in keyof TokenEvents]: (
    state: TokenState,
    event: TokenEvents[Name],
    claimed: Claimed,
  ) => TokenState;
};

const NO_TRIALS: ReadonlyMap<string, number> = new Map();
const NO_GROUP = { snapshotGroup: null, snapshotAtMs: -Infinity, catalogAtMs: NO_TRIALS };

/**
 * The one table of what each event makes of a token. A refusal outlasts the evidence after it: a call that began before it,
 * and a signature, never count again; a 200 to a later call does.
 */
export const TRANSITIONS: Transitions = {
  signed: ({ evidence, refusal }, _event, claimed) =>
    refusal === null
      ? { evidence: { ...(evidence ?? nothingOf(claimed)), isSigned: true }, refusal }
      : { evidence, refusal: { ...refusal, isSigned: true } },

  accepted({ evidence, refusal }, { proves, group, atMs }, claimed) {
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
  },

  refused: ({ evidence, refusal }, { time, atMs, onTrial }, { expiresAtMs }) => ({
    evidence: evidence && {
      ...{ ...evidence, ...NO_GROUP },
      ...{ isSigned: false, ownsLogin: false, acceptedAtMs: -Infinity },
    },
    refusal: {
      ...{ atTime: time, expiresAtMs },
      isSigned: evidence?.isSigned === true || refusal?.isSigned === true,
      trialsAtMs: onTrial
        ? new Map(refusal?.trialsAtMs).set(onTrial, atMs)
        : (refusal?.trialsAtMs ?? NO_TRIALS),
    },
  }),

  catalogForbidden({ evidence, refusal }, { group }) {
    if (evidence === null) return { evidence, refusal };
    const catalogAtMs = new Map(evidence.catalogAtMs);
    catalogAtMs.delete(group);
    const snapshotAtMs = evidence.snapshotGroup === group ? -Infinity : evidence.snapshotAtMs;
    return { evidence: { ...evidence, catalogAtMs, snapshotAtMs }, refusal };
  },

  sessionForbidden: ({ evidence, refusal }) => ({
    evidence: evidence && { ...evidence, ...NO_GROUP },
    refusal,
  }),

  groupFailed: ({ evidence, refusal }, { atMs }, claimed) => ({
    evidence: { ...(evidence ?? nothingOf(claimed)), groupFailedAtMs: atMs },
    refusal,
  }),
};

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
    ...{ account, expiresAtMs, client: null, isSigned: false, ownsLogin: false },
    ...{ acceptedAtMs: -Infinity, groupFailedAtMs: -Infinity, ...NO_GROUP },
  };
}
