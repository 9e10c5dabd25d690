import type { Account } from '../../../lib/account.ts';
import type { RecordTable, TableRecord } from '../memory/record-table.ts';
import {
  AccountRecordsFullError,
  type CutOffOrder,
  isGatewayRejection,
  mayHaveChanged,
  type OrderRecord,
  RECORD_LIFE_MS,
  RecordsForgottenError,
  RecordsFullError,
  RecordsGapError,
  RecordsUnavailableError,
  type Reservation,
  rank,
  recordId,
  toOrderRecord,
} from '../order-records.ts';
import {
  FEW_RECORDS,
  mostOfOthers,
  NEARLY,
  type RecordBounds,
  recordQuota,
  SHARES,
  shareOf,
} from '../record-shares.ts';
import { NotCopiedError, shortOf } from './copies.ts';
import { forgetfulness } from './durability.ts';
import { figureIn, outcomeIn, textIn } from './replies.ts';

/** Scripts answer an empty text where a moment is not known. */
export function momentIn(answer: unknown): number | null {
  return answer === '' ? null : figureIn(answer);
}

/** The record that a script has answered with. */
export function readRecord(answer: readonly unknown[]): OrderRecord {
  const [, id, inputDigest, reservedAtMs, pendingMs, outcome] = answer;
  const of = {
    id: textIn(id),
    inputDigest: textIn(inputDigest),
    reservedAtMs: figureIn(reservedAtMs),
  };
  return toOrderRecord(of, outcomeIn(outcome), figureIn(pendingMs));
}

/** A record's id has its account, encoded, before the first colon: it was one when the order was reserved. */
export function keyOfRecord(id: string): Pick<Reservation, 'account' | 'key'> {
  const at = id.indexOf(':');
  return { account: decodeURIComponent(id.slice(0, at)) as Account, key: id.slice(at + 1) };
}

/** Pairs of a record's id and when its order was reserved. */
export function cutOffsIn(pairs: readonly unknown[]): readonly CutOffOrder[] {
  const ids = pairs.filter((_, at) => at % 2 === 0);
  return ids.map((id, at) => ({
    ...keyOfRecord(textIn(id)),
    reservedAtMs: figureIn(pairs[2 * at + 1]),
  }));
}

/** The time of a record by the rest of its life in Redis: the clock of the replica that made it may be another. */
export function ageOf(answer: readonly unknown[]): number {
  return Math.max(0, RECORD_LIFE_MS - figureIn(answer[6]));
}

/** Turns the answer of a script that found no record into an error. */
export function refusalIn(
  [status, detail, more]: readonly unknown[],
  bounds: RecordBounds,
  id: string,
  madeMs: number | null = null,
): RecordsUnavailableError {
  const whose = SHARES.find((share) => share === status);
  if (whose) return new AccountRecordsFullError(bounds, id, whose, figureIn(detail));
  if (status === 'incomplete') return new RecordsGapError(momentIn(detail), madeMs);
  if (status === 'forgotten') return new RecordsForgottenError();
  // One that forgets may have forgotten this key.
  if (status === 'forgets') return new RecordsUnavailableError(String(forgetfulness(detail)));
  if (status === 'copies') {
    const message = shortOf(figureIn(detail), figureIn(more));
    return new NotCopiedError(message, { earlierUnknown: false });
  }
  if (status === 'full') return new RecordsFullError(bounds.max, momentIn(detail));
  return new RecordsUnavailableError(
    status === 'evicted'
      ? 'Redis has dropped the record of this key before its time (see maxmemory-policy)'
      : `Redis answered out of turn (${String(status)})`,
  );
}

/** The first arguments of the two scripts that make a record. */
export function addArguments(
  { id, account, key, inputDigest, reservedAtMs, pendingMs }: Reservation,
  bounds: RecordBounds,
  [epoch, member, durability]: readonly [string, string, string],
): (string | number)[] {
  const most = recordQuota(bounds, id);
  return [
    epoch,
    recordId(account, key),
    member,
    id,
    inputDigest,
    reservedAtMs,
    pendingMs,
    RECORD_LIFE_MS,
    bounds.max,
    durability,
    shareOf(id),
    most.account,
    most.token,
    NEARLY,
    most.rejected,
    most.rejectedOfToken,
    mostOfOthers(bounds.max),
    FEW_RECORDS,
  ];
}

/** The arguments of one record for MERGE. */
export function mergeArguments(record: TableRecord, own: RecordTable): (string | number)[] {
  const { reservation, outcome } = record;
  const { id, account, key, inputDigest, reservedAtMs } = reservation;
  const pendingMs = Math.ceil(own.get(account, key)?.pendingMs ?? 0);
  const restMs = Math.floor(RECORD_LIFE_MS - own.ageMs(record));
  return [
    recordId(account, key),
    id,
    inputDigest,
    reservedAtMs,
    pendingMs,
    restMs,
    rank(outcome),
    JSON.stringify(outcome),
    mayHaveChanged(outcome) ? 'changed' : isGatewayRejection(outcome) ? 'rejected' : '',
    shareOf(id),
  ];
}
