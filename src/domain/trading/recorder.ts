import { type Clock, pause, within } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import {
  type OrderRecord,
  type OrderRecords,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  recordId,
  toOrderRecord,
} from '../../store/order-records.ts';

export interface RecorderOptions {
  readonly records: OrderRecords;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error'>;
}

// The longest a client waits for its outcome to be recorded; the outcome is true either way.
const PATIENCE_MS = 2_000;
const RETRY_FIRST_MS = 200;
// Short, because a process that is killed before the write leaves a known outcome unknown.
const RETRY_MAX_MS = 1_000;

/**
 * Records how reservations ended, and retries while the store is unavailable: the order is already sent,
 * so its client gets the outcome whether or not it could be recorded yet.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #unwritten = new Set<Promise<void>>();
  /** The outcomes that the store does not have yet, by the id of their record; null where the key comes free. */
  readonly #waiting = new Map<string, OrderRecord | null>();
  readonly #freeing = new Set<string>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  settle(reservation: Reservation, outcome: RecordedOutcome): Promise<void> {
    const { records } = this.#options;
    const record = toOrderRecord(reservation, outcome, 0);
    return this.#write(reservation, record, () => records.settle(reservation, outcome));
  }

  release(reservation: Reservation): Promise<void> {
    this.#freeing.add(reservation.id);
    return this.#write(reservation, null, () => this.#options.records.release(reservation));
  }

  /**
   * The outcome that waits to be written, and precedes the record that is still pending in the store; null where
   * its order was never sent and the key comes free.
   */
  waiting(login: string, key: string): OrderRecord | null | undefined {
    return this.#waiting.get(recordId(login, key));
  }

  /** Whether a record is only there until its key comes free. */
  isFreeing({ id }: OrderRecord): boolean {
    return this.#freeing.has(id);
  }

  get unwritten(): Iterable<Promise<void>> {
    return this.#unwritten;
  }

  /** Resolves when the outcome is written, or when retries continue in the background. */
  async #write(
    { login, key, id: reservation }: Reservation,
    waiting: OrderRecord | null,
    attempt: () => Promise<void>,
  ): Promise<void> {
    const { clock, log } = this.#options;
    const id = recordId(login, key);
    // A late answer takes the place of an unknown that waits as well.
    this.#waiting.set(id, waiting);
    const first = attempt();
    const written = first
      .catch((error: unknown) => {
        log.error({ err: error }, 'the outcome of an order could not be recorded; trying again');
        return this.#retry(attempt);
      })
      .finally(() => {
        this.#unwritten.delete(written);
        this.#freeing.delete(reservation);
        if (this.#waiting.get(id) === waiting) this.#waiting.delete(id);
      });
    this.#unwritten.add(written);
    await within(clock, PATIENCE_MS, first).catch(() => {});
  }

  async #retry(attempt: () => Promise<void>): Promise<void> {
    const { clock, log } = this.#options;
    let waitMs = RETRY_FIRST_MS;
    for (let waitedMs = 0; waitedMs < RECORD_LIFE_MS; waitedMs += waitMs) {
      await pause(clock, waitMs);
      try {
        return await attempt();
      } catch {
        waitMs = Math.min(2 * waitMs, RETRY_MAX_MS);
      }
    }
    log.error({}, 'the outcome of an order was never recorded');
  }
}
