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

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Records how reservations ended, and retries while the store is unavailable: the order is already sent,
 * so its client gets the outcome whether or not it could be recorded yet.
 */
export function createRecorder({ records, clock, log }: RecorderOptions) {
  const unwritten = new Set<Promise<void>>();
  /** The outcomes that the store does not have yet, by the id of their record; null where the key comes free. */
  const waiting = new Map<string, OrderRecord | null>();
  /** The ids of records that are only there until their key comes free. */
  const freeing = new Set<string>();

  /** Resolves when the outcome is written, or when retries continue in the background. */
  async function write(
    reservation: Reservation,
    outcome: OrderRecord | null,
    attempt: () => Promise<void>,
  ): Promise<void> {
    const id = recordId(reservation.login, reservation.key);
    // A late answer takes the place of an unknown that waits as well.
    waiting.set(id, outcome);
    const first = attempt();
    const written = first
      .catch((error: unknown) => {
        log.error({ err: error }, 'the outcome of an order could not be recorded; trying again');
        return retry(attempt);
      })
      .finally(() => {
        unwritten.delete(written);
        freeing.delete(reservation.id);
        if (waiting.get(id) === outcome) waiting.delete(id);
      });
    unwritten.add(written);
    await within(clock, PATIENCE_MS, first).catch(() => {});
  }

  async function retry(attempt: () => Promise<void>): Promise<void> {
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

  return {
    settle(reservation: Reservation, outcome: RecordedOutcome): Promise<void> {
      const record = toOrderRecord(reservation, outcome, 0);
      return write(reservation, record, () => records.settle(reservation, outcome));
    },
    release(reservation: Reservation): Promise<void> {
      freeing.add(reservation.id);
      return write(reservation, null, () => records.release(reservation));
    },
    /**
     * The outcome that waits to be written, and precedes the record that is still pending in the store; null where
     * its order was never sent and the key comes free.
     */
    waiting: (account: string, key: string) => waiting.get(recordId(account, key)),
    async find(account: string, key: string): Promise<OrderRecord | null> {
      const outcome = waiting.get(recordId(account, key));
      if (outcome) return outcome;
      // A key that comes free may be free already, and another process's order have it.
      const record = await records.find(account, key);
      return record !== null && freeing.has(record.id) ? null : record;
    },
    unwritten: unwritten as Iterable<Promise<void>>,
  };
}
