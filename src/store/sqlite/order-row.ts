import type { Account } from '../../lib/account.ts';
import {
  isGatewayRejection,
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  rank,
  toOrderRecord,
  UNKNOWN_LIFE_MS,
} from '../order-records.ts';
import { isOfNeverSent } from '../record-shares.ts';

/** The classes by which records are counted. Records of rejected orders can be removed to make room. */
export const SENT = 0;
export const NEVER_SENT = 1;
export const REJECTED = 2;
export const CLASSES = [SENT, NEVER_SENT, REJECTED] as const;
export type Class = (typeof CLASSES)[number];

export interface Row {
  readonly n: number;
  readonly account: Account;
  readonly key: string;
  readonly id: string;
  readonly digest: string;
  readonly reserved: number;
  readonly pendingUntil: number;
  readonly class: Class;
  readonly ends: number;
  readonly overdueRead: 0 | 1;
  readonly asked: string | null;
  readonly outcome: string | null;
  readonly sent: number | null;
  readonly answered: number | null;
}

export function recordOf(row: Row, nowMs: number): OrderRecord {
  const { id, digest: inputDigest, reserved: reservedAtMs, pendingUntil, sent, answered } = row;
  const asked = JSON.parse(row.asked ?? 'null');
  const times = { sentAtMs: sent, answeredAtMs: answered };
  const of = { id, inputDigest, reservedAtMs, asked };
  const leftMs = row.overdueRead === 1 ? 0 : pendingUntil - nowMs;
  return toOrderRecord(of, JSON.parse(row.outcome ?? 'null'), leftMs, times);
}

export function classOf(id: string, outcome: RecordedOutcome | null): Class {
  if (isOfNeverSent(id)) return NEVER_SENT;
  return isGatewayRejection(outcome) ? REJECTED : SENT;
}

/** How long a record lives after its outcome was written. */
export function lifeOf(outcome: RecordedOutcome | null): number {
  return rank(outcome) === 2 ? RECORD_LIFE_MS : UNKNOWN_LIFE_MS;
}
