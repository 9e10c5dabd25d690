import { AccountRecordsFullError, type OrderRecords } from './order-records.ts';
import type { StoreAction, StoreMetrics } from './store-metrics.ts';

/** Order records that measure what is asked of them. */
export function measuredOrderRecords(records: OrderRecords, metrics: StoreMetrics): OrderRecords {
  function measured<Args extends readonly unknown[], T>(
    action: StoreAction,
    run: (this: OrderRecords, ...args: Args) => Promise<T>,
  ): (...args: Args) => Promise<T> {
    return async (...args) => {
      const startedAtMs = performance.now();
      try {
        return await run.call(records, ...args);
      } catch (error) {
        // The store is in order: one account has had its share.
        if (!(error instanceof AccountRecordsFullError)) metrics.failures.inc({ action });
        throw error;
      } finally {
        metrics.seconds.observe({ action }, (performance.now() - startedAtMs) / 1000);
      }
    };
  }
  return {
    reserve: measured('reserve', records.reserve),
    settle: measured('settle', records.settle),
    release: measured('release', records.release),
    find: measured('find', records.find),
    voidKey: measured('void', records.voidKey),
    cutOff: () => records.cutOff(),
    get status() {
      return records.status;
    },
    close: () => records.close(),
  };
}
