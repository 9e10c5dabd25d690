import type { Account } from '../../../lib/account.ts';
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
import { agree } from '../../store/settlement.ts';

export interface RecorderOptions {
  readonly records: OrderRecords;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error' | 'warn'>;
  /** Called with an answer of the gateway's that an operator's word contradicts: that stays. */
  readonly onContradicted?: (of: Reservation, answer: RecordedOutcome) => void;
}

// The longest a client waits for its outcome to be recorded; the outcome is true either way.
const PATIENCE_MS = 2_000;
const RETRY_FIRST_MS = 200;
// Short, because a process that is killed before the write leaves a known outcome unknown.
const RETRY_MAX_MS = 1_000;

/** A reservation's latest entry for the store; with a null outcome its key comes free. */
interface Write {
  readonly reservation: Reservation;
  readonly outcome: OrderRecord | null;
}

export type Recorder = ReturnType<typeof createRecorder>;

/**
 * Records how reservations ended, and retries while the store is unavailable: the order is already sent,
 * so its client gets the outcome whether or not it could be recorded yet.
 */
export function createRecorder({ records, clock, log, onContradicted }: RecorderOptions) {
  const unwritten = new Set<Promise<void>>();
  /** The latest writes that the store has not taken yet, by account and key. */
  const waiting = new Map<string, Write>();

  /** Resolves when the outcome is written, or when retries continue in the background. */
  async function write(
    reservation: Reservation,
    outcome: OrderRecord | null,
    attempt: () => Promise<void>,
  ): Promise<void> {
    const id = recordId(reservation.account, reservation.key);
    const latest: Write = { reservation, outcome };
    // A late answer takes the place of an unknown that waits as well.
    waiting.set(id, latest);
    const first = attempt();
    const written = first
      .catch((error: unknown) => {
        log.error({ err: error }, 'the outcome of an order could not be recorded; trying again');
        return retry(attempt);
      })
      .finally(() => {
        unwritten.delete(written);
        if (waiting.get(id) === latest) waiting.delete(id);
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
      return write(reservation, record, async () => {
        const settled = await records.settle(reservation, outcome);
        if (settled === null || outcome.kind === 'unknown' || agree(settled, outcome)) return;
        onContradicted?.(reservation, outcome);
      });
    },
    release(reservation: Reservation): Promise<void> {
      return write(reservation, null, () => records.release(reservation));
    },
    /**
     * The outcome that waits to be written, and precedes the record that is still pending in the store; null where
     * its order was never sent and the key comes free.
     */
    waiting: (account: Account, key: string) => waiting.get(recordId(account, key))?.outcome,
    async find(account: Account, key: string): Promise<OrderRecord | null> {
      const id = recordId(account, key);
      const outcome = waiting.get(id)?.outcome;
      if (outcome) return outcome;
      const record = await records.find(account, key);
      // A key that comes free may be free already, and another process's order have it.
      const latest = waiting.get(id);
      return latest?.outcome === null && latest.reservation.id === record?.id ? null : record;
    },
    unwritten: unwritten as Iterable<Promise<void>>,
  };
}
