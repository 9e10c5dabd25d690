import { toAccount } from '../../lib/account.ts';
import { type OrderKey, type OrderRecord, toOrderRecord } from '../order-records.ts';

/** A record in a script's answer. The fields of its hash are strings. */
export interface FoundRecord {
  readonly kind: 'record';
  readonly id: string;
  readonly digest: string;
  readonly at: string;
  readonly asked: string;
  readonly outcome: string;
  readonly leftMs: number;
  readonly overdueMs: number;
}

export function recordOf(found: FoundRecord): OrderRecord {
  const { id, digest: inputDigest, at, asked, outcome, leftMs } = found;
  const order = { id, inputDigest, reservedAtMs: Number(at), asked: JSON.parse(asked) };
  return toOrderRecord(order, JSON.parse(outcome), leftMs);
}

/** Parses the name of a record, which is the encoded account, a colon and the key. */
export function keyOfRecord(name: string): OrderKey {
  const colon = name.indexOf(':');
  const account = toAccount(decodeURIComponent(name.slice(0, colon)));
  return { account, key: name.slice(colon + 1) };
}
