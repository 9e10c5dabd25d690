import { AccountRecordsFullError, type OrderRecords } from './order-records.ts';
import type { StoreAction, StoreMetrics } from './store-metrics.ts';

/** Order records that measure what is asked of them. */
export function measuredOrderRecords(records: OrderRecords, metrics: StoreMetrics): OrderRecords {
  function measured<Args extends readonly unknown[], T>(
    action: StoreAction,
    run: (...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    const seconds = metrics.seconds.register(action);
    const failures = metrics.failures.register(action);
    return async (...args) => {
      const startedAtMs = performance.now();
      try {
        return await run(...args);
      } catch (error) {
        // The store is in order: one account has had its share.
        if (!(error instanceof AccountRecordsFullError)) failures.add();
        throw error;
      } finally {
        seconds.observe((performance.now() - startedAtMs) / 1000);
      }
    };
  }
  return {
    reserve: measured('reserve', (request) => records.reserve(request)),
    settle: measured('settle', (reservation, outcome) => records.settle(reservation, outcome)),
    release: measured('release', (reservation) => records.release(reservation)),
    find: measured('find', (login, key) => records.find(login, key)),
    voidKey: measured('void', (request) => records.voidKey(request)),
    held: () => records.held(),
    degradedReason: () => records.degradedReason(),
    close: () => records.close(),
  };
}
