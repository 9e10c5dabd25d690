import type { Client } from '../../../lib/limits/client.ts';

/** The evidence about one token: the gateway's answers to it, and their times. */
export interface TokenEvidence {
  readonly account: string;
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
  snapshotAtMs: number;
  /** The time of the last 200 that proves a group, by group. */
  catalogAtMs: Map<string, number>;
  /** When the group was last to be proved again, and the gateway could not say. */
  groupFailedAtMs: number;
}

/** The evidence about a token that the gateway has not been asked about yet. */
export function noEvidence(account: string, expiresAtMs: number | null): TokenEvidence {
  return {
    account,
    expiresAtMs,
    client: null,
    verified: false,
    ownsLogin: false,
    acceptedAtMs: -Infinity,
    snapshotGroup: null,
    snapshotAtMs: -Infinity,
    catalogAtMs: new Map(),
    groupFailedAtMs: -Infinity,
  };
}

/** When the group was last proved. */
export function evidenceAtMs(
  group: string,
  { snapshotGroup, snapshotAtMs, catalogAtMs }: TokenEvidence,
): number {
  const bySnapshotMs = snapshotGroup === group ? snapshotAtMs : -Infinity;
  return Math.max(bySnapshotMs, catalogAtMs.get(group) ?? -Infinity);
}

/** Whatever was evidence for a group is none any more. */
export function forgetGroup(entry: TokenEvidence): void {
  entry.snapshotGroup = null;
  entry.snapshotAtMs = -Infinity;
  entry.catalogAtMs.clear();
}
