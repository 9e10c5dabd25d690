import type { Account } from '../../../lib/account.ts';
import {
  AccountRecordsFullError,
  closedBy,
  isGatewayRejection,
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  RecordsFullError,
  type Reservation,
  rank,
  recordId,
  toOrderRecord,
} from '../order-records.ts';
import {
  FEW_RECORDS,
  fullShare,
  isNearlyFull,
  isOfNeverSent,
  mostOfOthers,
  NEARLY,
  type RecordBounds,
  recordQuota,
  shareOf,
} from '../record-shares.ts';

export interface RecordTableOptions extends RecordBounds {
  /**
   * Milliseconds of a monotonic clock. Records age by it: a corrected wall clock must not
   * make a day pass at once, because a forgotten key can be sent again.
   */
  readonly uptimeMs: () => number;
}

export interface TableRecord {
  readonly reservation: Reservation;
  readonly bornAtMs: number;
  readonly pendingUntilMs: number;
  outcome: RecordedOutcome | null;
}

/**
 * Records are linked in the order of reservation. The order of a Map would do, but it walks over all that was
 * deleted at its front, and an iterator that is kept keeps what is deleted meanwhile from being collected.
 */
interface Entry extends TableRecord {
  older: Entry | null;
  younger: Entry | null;
}

// Each takes about a microsecond: after an idle weekend all at once would hold up every client.
const DROPPED_AT_ONCE = 200;

export type RecordTable = ReturnType<typeof createRecordTable>;

/**
 * The records of one process in memory: their TTL, their bound, and their transitions. A record
 * that is over is not answered any more; it is dropped by one of the calls that follow.
 */
export function createRecordTable(options: RecordTableOptions) {
  const { max, onNearlyFull, uptimeMs } = options;
  const beganAtMs = uptimeMs();
  const records = new Map<string, Entry>();
  let oldest: Entry | null = null;
  let youngest: Entry | null = null;
  /** The same records by account, in the order of reservation. */
  const accounts = new Map<Account, Set<Entry>>();

  /**
   * Counts the records that are over and not dropped yet, too. They never fill the table: where there is one, this
   * drops at least one, and is below the maximum.
   */
  function size(): number {
    dropOld(oldestFirst());
    return records.size;
  }

  function checkRoom({ account, id }: Reservation): void {
    const own = accounts.get(account) ?? new Set<Entry>();
    // An account's own records that are over may be far from the oldest, and must not fill its share.
    dropOld(own);
    if (size() >= (own.size < FEW_RECORDS ? max : mostOfOthers(max))) {
      throw new RecordsFullError(max, oldest && RECORD_LIFE_MS - ageMs(oldest));
    }
    const most = recordQuota(options, id);
    if (own.size < NEARLY * most.token) return;
    const alike = [...own].filter(
      (record) => isOfNeverSent(record.reservation.id) === isOfNeverSent(id) && !isOver(record),
    );
    const token = alike.filter(({ reservation }) => shareOf(reservation.id) === shareOf(id));
    const isRejected = ({ outcome }: Entry) => isGatewayRejection(outcome);
    const rejected = alike.filter(isRejected);
    if (isNearlyFull(most, alike.length, token.length)) onNearlyFull?.();
    const held = {
      account: alike.length,
      token: token.length,
      rejected: rejected.length,
      rejectedOfToken: token.filter(isRejected).length,
    };
    const whose = fullShare(held, most);
    const [first] = whose === undefined ? [] : { account: alike, token, rejected }[whose];
    if (whose === undefined || first === undefined) return;
    throw new AccountRecordsFullError(options, id, whose, RECORD_LIFE_MS - ageMs(first));
  }

  function find(account: Account, key: string): Entry | undefined {
    const record = records.get(recordId(account, key));
    return record && !isOver(record) ? record : undefined;
  }

  function ageMs({ bornAtMs }: Pick<TableRecord, 'bornAtMs'>): number {
    return uptimeMs() - bornAtMs;
  }

  function isOver(record: TableRecord): boolean {
    return ageMs(record) >= RECORD_LIFE_MS;
  }

  function put(record: TableRecord): void {
    const { account, key } = record.reservation;
    const id = recordId(account, key);
    const former = records.get(id);
    if (former) drop(former);
    const entry: Entry = { ...record, older: youngest, younger: null };
    if (entry.older) entry.older.younger = entry;
    else oldest = entry;
    youngest = entry;
    records.set(id, entry);
    const own = accounts.get(account) ?? new Set();
    accounts.set(account, own.add(entry));
  }

  function drop(record: Entry): void {
    const { older, younger } = record;
    if (older) older.younger = younger;
    else oldest = younger;
    if (younger) younger.older = older;
    else youngest = older;
    const { account, key } = record.reservation;
    const own = accounts.get(account);
    own?.delete(record);
    if (own?.size === 0) accounts.delete(account);
    records.delete(recordId(account, key));
  }

  function view({ reservation, outcome, pendingUntilMs }: TableRecord): OrderRecord {
    return toOrderRecord(reservation, outcome, pendingUntilMs - uptimeMs());
  }

  function* oldestFirst(): Iterable<Entry> {
    for (let record = oldest; record; record = record.younger) yield record;
  }

  function dropOld(inOrder: Iterable<Entry>): void {
    let left = DROPPED_AT_ONCE;
    for (const record of inOrder) {
      if (left === 0 || !isOver(record)) return;
      drop(record);
      left -= 1;
    }
  }

  const rememberedMs = () => uptimeMs() - beganAtMs;

  return {
    size,
    rememberedMs,
    get(account: Account, key: string): OrderRecord | null {
      dropOld(oldestFirst());
      const record = find(account, key);
      return record ? view(record) : null;
    },
    /** Throws where it is full, for all or for this account. The caller has checked that the key is free. */
    add(reservation: Reservation): void {
      checkRoom(reservation);
      const now = uptimeMs();
      const pendingUntilMs = now + reservation.pendingMs;
      put({ reservation, bornAtMs: now, pendingUntilMs, outcome: null });
    },
    /** Throws as `add` does. */
    addClosed(reservation: Reservation, keyAgeMs: number | null): void {
      checkRoom(reservation);
      const now = uptimeMs();
      const outcome = closedBy(keyAgeMs, rememberedMs());
      put({ reservation, bornAtMs: now, pendingUntilMs: now, outcome });
    },
    /** A record that an earlier process made so long ago; that process is dead, so nothing is pending. */
    adopt(reservation: Reservation, outcome: RecordedOutcome | null, madeMsAgo: number): void {
      const now = uptimeMs();
      put({ reservation, bornAtMs: now - madeMsAgo, pendingUntilMs: now, outcome });
    },
    /** False where there is no such reservation any more. */
    settle({ account, key, id }: Reservation, outcome: RecordedOutcome): boolean {
      const record = find(account, key);
      if (record?.reservation.id !== id) return false;
      if (rank(outcome) > rank(record.outcome)) record.outcome = outcome;
      return true;
    },
    /** Only a pending record can be freed: an outcome uses its key up, and past its time clients were told `unknown`. */
    release({ account, key, id }: Reservation): boolean {
      const record = find(account, key);
      if (record?.reservation.id !== id || view(record).pendingMs === 0) return false;
      drop(record);
      return true;
    },
    /** Live: an entry that is added or dropped during the iteration is seen or skipped. */
    *values(): Iterable<TableRecord> {
      for (const record of records.values()) if (!isOver(record)) yield record;
    },
    ageMs,
    find,
  };
}
