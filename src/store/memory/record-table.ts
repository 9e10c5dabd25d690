import { createFillWarning } from '../fill-warning.ts';
import {
  AccountRecordsFullError,
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordBounds,
  type RecordedOutcome,
  RecordsUnavailableError,
  type Reservation,
  rank,
  recordId,
  toOrderRecord,
} from '../order-records.ts';

export interface RecordTableOptions extends RecordBounds {
  /**
   * Milliseconds of a monotonic clock. Records age by it: a corrected wall clock must not
   * make a day pass at once, because a forgotten key can be sent again.
   */
  readonly uptimeMs: () => number;
  readonly onWarn: (message: string) => void;
}

export interface TableRecord {
  readonly reservation: Reservation;
  readonly bornAtMs: number;
  readonly pendingUntilMs: number;
  outcome: RecordedOutcome | null;
}

/** The records of one process in memory: their TTL, their bound, and their transitions. */
export class RecordTable {
  readonly #options: RecordTableOptions;
  readonly #warnOfFill: (held: number) => void;
  /** In the order of reservation, so that the oldest come first. */
  readonly #records = new Map<string, TableRecord>();
  /** The same records by account, in the same order. */
  readonly #accounts = new Map<string, Set<TableRecord>>();

  constructor(options: RecordTableOptions) {
    this.#options = options;
    this.#warnOfFill = createFillWarning(options.max, options.onWarn);
  }

  get size(): number {
    this.#forgetOld();
    return this.#records.size;
  }

  get(login: string, key: string): OrderRecord | null {
    this.#forgetOld();
    const record = this.#records.get(recordId(login, key));
    return record ? this.#view(record) : null;
  }

  /** Throws where it is full, for all or for this account. The caller has checked that the key is free. */
  add(reservation: Reservation): void {
    const { max, maxPerAccount = Number.POSITIVE_INFINITY, onAccountHeld } = this.#options;
    if (this.size >= max) throw new RecordsUnavailableError(`all ${max} order records are in use`);
    const { login } = reservation;
    const own = this.#accounts.get(login);
    const held = own?.size ?? 0;
    onAccountHeld?.(login, Math.min(held + 1, maxPerAccount));
    if (own && held >= maxPerAccount) {
      const [oldest] = own;
      const ageMs = oldest ? this.ageMs(oldest) : 0;
      throw new AccountRecordsFullError(maxPerAccount, RECORD_LIFE_MS - ageMs);
    }
    const now = this.#options.uptimeMs();
    const pendingUntilMs = now + reservation.pendingMs;
    this.#put({ reservation, bornAtMs: now, pendingUntilMs, outcome: null });
  }

  /** A record that an earlier process made `ageMs` ago; that process is dead, so nothing is pending. */
  adopt(reservation: Reservation, outcome: RecordedOutcome | null, ageMs: number): void {
    const now = this.#options.uptimeMs();
    this.#put({ reservation, bornAtMs: now - ageMs, pendingUntilMs: now, outcome });
  }

  /** False where there is no such reservation any more. */
  settle({ login, key, id }: Reservation, outcome: RecordedOutcome): boolean {
    const record = this.#records.get(recordId(login, key));
    if (record?.reservation.id !== id) return false;
    if (rank(outcome) > rank(record.outcome)) record.outcome = outcome;
    return true;
  }

  /** Only a pending record can be freed: an outcome uses its key up. */
  release({ login, key, id }: Reservation): boolean {
    const record = this.#records.get(recordId(login, key));
    if (record?.reservation.id !== id || record.outcome !== null) return false;
    this.#drop(recordId(login, key), record);
    return true;
  }

  /** Live: an entry that is added or dropped during the iteration is seen or skipped. */
  values(): Iterable<TableRecord> {
    this.#forgetOld();
    return this.#records.values();
  }

  record({ login, key }: Reservation): TableRecord | undefined {
    return this.#records.get(recordId(login, key));
  }

  ageMs(record: TableRecord): number {
    return this.#options.uptimeMs() - record.bornAtMs;
  }

  #put(record: TableRecord): void {
    const { login, key } = record.reservation;
    const id = recordId(login, key);
    const former = this.#records.get(id);
    if (former) this.#drop(id, former);
    this.#records.set(id, record);
    const own = this.#accounts.get(login) ?? new Set();
    this.#accounts.set(login, own.add(record));
    this.#warnOfFill(this.#records.size);
  }

  #drop(id: string, record: TableRecord): void {
    const { login } = record.reservation;
    const own = this.#accounts.get(login);
    own?.delete(record);
    if (own?.size === 0) this.#accounts.delete(login);
    this.#records.delete(id);
  }

  #view({ reservation, outcome, pendingUntilMs }: TableRecord): OrderRecord {
    return toOrderRecord(reservation, outcome, pendingUntilMs - this.#options.uptimeMs());
  }

  #forgetOld(): void {
    const bornBeforeMs = this.#options.uptimeMs() - RECORD_LIFE_MS;
    for (const [id, record] of this.#records) {
      if (record.bornAtMs > bornBeforeMs) return;
      this.#drop(id, record);
    }
  }
}
