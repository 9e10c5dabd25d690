import {
  AccountRecordsFullError,
  closedBy,
  isNearlyFull,
  isOfNeverSent,
  mostOf,
  NEARLY,
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordBounds,
  type RecordedOutcome,
  type Reservation,
  rank,
  recordId,
  recordsFullError,
  shareOf,
  toOrderRecord,
} from '../order-records.ts';

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

/**
 * The records of one process in memory: their TTL, their bound, and their transitions. A record
 * that is over is not answered any more; it is dropped by one of the calls that follow.
 */
export class RecordTable {
  readonly #options: RecordTableOptions;
  readonly #beganAtMs: number;
  readonly #records = new Map<string, Entry>();
  #oldest: Entry | null = null;
  #youngest: Entry | null = null;
  /** The same records by account, in the order of reservation. */
  readonly #accounts = new Map<string, Set<Entry>>();

  constructor(options: RecordTableOptions) {
    this.#options = options;
    this.#beganAtMs = options.uptimeMs();
  }

  /**
   * Counts the records that are over and not dropped yet, too. They never fill the table: where there is one, this
   * drops at least one, and is below the maximum.
   */
  get size(): number {
    this.#dropOld(this.#oldestFirst());
    return this.#records.size;
  }

  get(login: string, key: string): OrderRecord | null {
    this.#dropOld(this.#oldestFirst());
    const record = this.find(login, key);
    return record ? this.#view(record) : null;
  }

  /** Throws where it is full, for all or for this account. The caller has checked that the key is free. */
  add(reservation: Reservation): void {
    this.#checkRoom(reservation);
    const now = this.#options.uptimeMs();
    const pendingUntilMs = now + reservation.pendingMs;
    this.#put({ reservation, bornAtMs: now, pendingUntilMs, outcome: null });
  }

  /** Throws as `add` does. */
  addClosed(reservation: Reservation, keyAgeMs: number | null): void {
    this.#checkRoom(reservation);
    const now = this.#options.uptimeMs();
    const outcome = closedBy(keyAgeMs, now - this.#beganAtMs);
    this.#put({ reservation, bornAtMs: now, pendingUntilMs: now, outcome });
  }

  /** A record that an earlier process made `ageMs` ago; that process is dead, so nothing is pending. */
  adopt(reservation: Reservation, outcome: RecordedOutcome | null, ageMs: number): void {
    const now = this.#options.uptimeMs();
    this.#put({ reservation, bornAtMs: now - ageMs, pendingUntilMs: now, outcome });
  }

  /** False where there is no such reservation any more. */
  settle({ login, key, id }: Reservation, outcome: RecordedOutcome): boolean {
    const record = this.find(login, key);
    if (record?.reservation.id !== id) return false;
    if (rank(outcome) > rank(record.outcome)) record.outcome = outcome;
    return true;
  }

  /** Only a pending record can be freed: an outcome uses its key up, and past its time clients were told `unknown`. */
  release({ login, key, id }: Reservation): boolean {
    const record = this.find(login, key);
    if (record?.reservation.id !== id || this.#view(record).pendingMs === 0) return false;
    this.#drop(record);
    return true;
  }

  /** Live: an entry that is added or dropped during the iteration is seen or skipped. */
  *values(): Iterable<TableRecord> {
    for (const record of this.#records.values()) {
      if (!this.#isOver(record)) yield record;
    }
  }

  ageMs(record: TableRecord): number {
    return this.#options.uptimeMs() - record.bornAtMs;
  }

  #checkRoom({ login, id }: Reservation): void {
    const { max, onNearlyFull } = this.#options;
    if (this.size >= max) throw recordsFullError(max);
    const own = this.#accounts.get(login) ?? new Set<Entry>();
    // An account's own records that are over may be far from the oldest, and must not fill its share.
    this.#dropOld(own);
    const most = mostOf(this.#options, id);
    if (own.size < NEARLY * most.token) return;
    const alike = [...own].filter(
      (record) =>
        isOfNeverSent(record.reservation.id) === isOfNeverSent(id) && !this.#isOver(record),
    );
    const held = {
      account: alike,
      token: alike.filter(({ reservation }) => shareOf(reservation.id) === shareOf(id)),
    };
    if (isNearlyFull(most, alike.length, held.token.length)) onNearlyFull?.();
    for (const whose of ['account', 'token'] as const) {
      const [oldest] = held[whose];
      if (!oldest || held[whose].length < most[whose]) continue;
      const freeInMs = RECORD_LIFE_MS - this.ageMs(oldest);
      throw new AccountRecordsFullError(this.#options, id, whose, freeInMs);
    }
  }

  find(login: string, key: string): Entry | undefined {
    const record = this.#records.get(recordId(login, key));
    return record && !this.#isOver(record) ? record : undefined;
  }

  #isOver({ bornAtMs }: TableRecord): boolean {
    return bornAtMs <= this.#options.uptimeMs() - RECORD_LIFE_MS;
  }

  #put(record: TableRecord): void {
    const { login, key } = record.reservation;
    const id = recordId(login, key);
    const former = this.#records.get(id);
    if (former) this.#drop(former);
    const entry: Entry = { ...record, older: this.#youngest, younger: null };
    if (entry.older) entry.older.younger = entry;
    else this.#oldest = entry;
    this.#youngest = entry;
    this.#records.set(id, entry);
    const own = this.#accounts.get(login) ?? new Set();
    this.#accounts.set(login, own.add(entry));
  }

  #drop(record: Entry): void {
    const { older, younger } = record;
    if (older) older.younger = younger;
    else this.#oldest = younger;
    if (younger) younger.older = older;
    else this.#youngest = older;
    const { login, key } = record.reservation;
    const own = this.#accounts.get(login);
    own?.delete(record);
    if (own?.size === 0) this.#accounts.delete(login);
    this.#records.delete(recordId(login, key));
  }

  #view({ reservation, outcome, pendingUntilMs }: TableRecord): OrderRecord {
    return toOrderRecord(reservation, outcome, pendingUntilMs - this.#options.uptimeMs());
  }

  *#oldestFirst(): Iterable<Entry> {
    for (let record = this.#oldest; record; record = record.younger) yield record;
  }

  #dropOld(oldestFirst: Iterable<Entry>): void {
    let left = DROPPED_AT_ONCE;
    for (const record of oldestFirst) {
      if (left === 0 || !this.#isOver(record)) return;
      this.#drop(record);
      left -= 1;
    }
  }
}
