import type { Account } from '../../lib/account.ts';
import { type OrderRecord, type Reservation, toOrderRecord } from '../order-records.ts';
import { figureIn, jsonIn, outcomeIn, textIn } from './replies.ts';

/** How many values a script answers with for a record, its first word included. */
export const RECORD_VALUES = 9;

/** The record that a script has answered with. */
export function readRecord(answer: readonly unknown[]): OrderRecord {
  const [, id, inputDigest, reservedAtMs, pendingMs, outcome, asked, sent, answered] = answer;
  const of = {
    id: textIn(id),
    inputDigest: textIn(inputDigest),
    reservedAtMs: figureIn(reservedAtMs),
    asked: jsonIn(asked) as OrderRecord['asked'],
  };
  const times = { sentAtMs: momentIn(sent), answeredAtMs: momentIn(answered) };
  return toOrderRecord(of, outcomeIn(outcome), figureIn(pendingMs), times);
}

/** A record's id has its account, encoded, before the first colon: it was one when the order was reserved. */
export function keyOfRecord(id: string): Pick<Reservation, 'account' | 'key'> {
  const at = id.indexOf(':');
  return { account: decodeURIComponent(id.slice(0, at)) as Account, key: id.slice(at + 1) };
}

/** Null where a script has none. */
export function momentIn(value: unknown): number | null {
  return value === '' ? null : figureIn(value);
}
