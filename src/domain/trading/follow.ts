import type { Clock } from '../../lib/clock.ts';
import type { OrderRecord, OrderRecords } from '../../store/order-records.ts';

export interface FollowOptions {
  readonly records: OrderRecords;
  readonly clock: Clock;
  /** The upper bound of any wait, whatever a store's clock says. */
  readonly longestMs: number;
}

const POLL_MS = 100;

/**
 * Waits for a pending record of another process until it has an outcome, or its time is up. Null where
 * its key was released meanwhile. Timers measure the wait, so that clock corrections do not affect it.
 */
export async function follow(
  { records, clock, longestMs }: FollowOptions,
  login: string,
  key: string,
  first: OrderRecord,
): Promise<OrderRecord | null> {
  let record = first;
  let isOver = false;
  const cancel = clock.after(Math.min(first.pendingMs, longestMs), () => {
    isOver = true;
  });
  try {
    while (record.outcome === null && record.pendingMs > 0 && !isOver) {
      await new Promise<void>((resolve) => clock.after(POLL_MS, resolve));
      const next = await records.find(login, key);
      if (next?.id !== first.id) return null;
      record = next;
    }
    return record;
  } finally {
    cancel();
  }
}
