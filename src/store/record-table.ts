import { createFillWarning } from './fill-warning.ts';
import {
  type OrderRecord,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  RecordsUnavailableError,
  type Reservation,
  rank,
  recordId,
} from './order-records.ts';

export interface RecordTableOptions {
  readonly max: number;
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

  /** Throws where it is full. The caller has checked that the key is free. */
  add(reservation: Reservation): void {
    if (this.size >= this.#options.max) {
      throw new RecordsUnavailableError(`all ${this.#options.max} order records are in use`);
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
    return this.#records.delete(recordId(login, key));
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
    const id = recordId(record.reservation.login, record.reservation.key);
    this.#records.delete(id);
    this.#records.set(id, record);
    this.#warnOfFill(this.#records.size);
  }

  #view({ reservation, outcome, pendingUntilMs }: TableRecord): OrderRecord {
    const { id, canonical, reservedAtMs } = reservation;
    const leftMs = Math.max(0, pendingUntilMs - this.#options.uptimeMs());
    return { id, canonical, reservedAtMs, outcome, pendingMs: outcome === null ? leftMs : 0 };
  }

  #forgetOld(): void {
    const bornBeforeMs = this.#options.uptimeMs() - RECORD_LIFE_MS;
    for (const [id, record] of this.#records) {
      if (record.bornAtMs > bornBeforeMs) return;
      this.#records.delete(id);
    }
  }
}
