import type { Account } from '../../lib/account.ts';
import { type Clock, pause, within } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import {
  type CutOffOrder,
  type OrderRecord,
  type OrderRecords,
  RECORD_LIFE_MS,
  type RecordedOutcome,
  type Reservation,
  recordId,
  toOrderRecord,
} from '../../store/order-records.ts';
import { RecordsUnavailableError } from '../../store/refusals.ts';
import { agree, isSettled } from '../../store/settlement.ts';
import type { DomainMetrics } from '../domain-metrics.ts';
import { type OrderLines, outcomeOf } from './order-line.ts';

export interface RecorderOptions {
  readonly records: OrderRecords;
  readonly clock: Clock;
  readonly log: Pick<Log, 'error' | 'warn' | 'info'>;
  readonly lines: Pick<OrderLines, 'ofKey'>;
  readonly metrics: Pick<DomainMetrics, 'orders' | 'contradictions'>;
}

// The longest time that a client waits until its outcome is recorded. The outcome is true either way.
const PATIENCE_MS = 2_000;
const RETRY_FIRST_MS = 200;
// Short, because a process that is killed before the write leaves a known outcome unrecorded.
const RETRY_MAX_MS = 1_000;
const CUT_OFF_POLL_MS = 5_000;

/**
 * Records how orders ended: orders of this process, orders with a late answer, and orders whose process was killed. A write
 * is repeated while the store is unavailable. Its order was already sent, so the client receives the outcome even if it is
 * not recorded yet.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  /** The writes that have not ended. Only this class changes this set. */
  readonly unwritten = new Set<Promise<void>>();
  readonly #waiting = new Map<string, OrderRecord>();

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Resolves when the outcome is written, or when the patience ends and the write continues in the background. */
  settle(reservation: Reservation, outcome: RecordedOutcome): Promise<void> {
    const pendingMs = 0;
    const record = toOrderRecord(reservation, outcome, pendingMs);
    const id = recordId(reservation.account, reservation.key);
    // A late answer replaces a waiting unknown outcome.
    this.#waiting.set(id, record);
    const forget = () => {
      if (this.#waiting.get(id) === record) this.#waiting.delete(id);
    };
    return this.#write(async () => {
      const kept = await this.#options.records.settle(reservation, outcome);
      // Only an operator settles an order. The gateway's answer may contradict the operator.
      if (!isSettled(kept) || outcome.kind === 'unknown' || agree(kept, outcome)) return;
      const { metrics, log, lines } = this.#options;
      metrics.contradictions.inc();
      const line = { ...lines.ofKey(reservation), ...outcomeOf(outcome) };
      log.error(line, 'the gateway contradicts a settled order');
    }, forget);
  }

  release(reservation: Reservation): Promise<void> {
    const { records } = this.#options;
    return this.#write(() => records.release(reservation));
  }

  /** The record that waits to be written, and is valid already. */
  waiting(account: Account, key: string): OrderRecord | undefined {
    return this.#waiting.get(recordId(account, key));
  }

  async find(account: Account, key: string): Promise<OrderRecord | null> {
    return this.waiting(account, key) ?? this.#options.records.find(account, key);
  }

  /** Logs each order whose process was killed, for this and other replicas. */
  async watchCutOffs(signal: AbortSignal): Promise<void> {
    const { records, clock, log } = this.#options;
    while (!signal.aborted) {
      const found = await records.cutOff().catch((error: unknown) => {
        // The orders are found once the records are available again.
        if (error instanceof RecordsUnavailableError) return [];
        log.error({ err: error }, 'the search for orders of killed processes failed');
        return [];
      });
      for (const each of found) this.#reportCutOff(each);
      await pause(clock, CUT_OFF_POLL_MS, signal);
    }
  }

  #reportCutOff({ account, key, reservedAtMs }: CutOffOrder): void {
    const { lines, log, metrics } = this.#options;
    const sentAt = new Date(reservedAtMs).toISOString();
    const line = { ...lines.ofKey({ account, key }), sentAt, outcome: 'unknown', isCutOff: true };
    log.warn(line, 'an order ended unknown');
    log.info(line, 'order');
    metrics.orders.inc({ outcome: 'unknown' });
  }

  async #write(attempt: () => Promise<void>, onEnd = () => {}): Promise<void> {
    const { clock, log } = this.#options;
    const first = attempt();
    const written = first
      .catch((error: unknown) => {
        log.error({ err: error }, 'the outcome of an order could not be recorded; trying again');
        return this.#retry(attempt);
      })
      .finally(() => {
        this.unwritten.delete(written);
        onEnd();
      });
    this.unwritten.add(written);
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
