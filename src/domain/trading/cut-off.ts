import type { Clock } from '../../../lib/clock.ts';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import type { Log } from '../../../lib/log.ts';
import { type OrderRecords, RecordsUnavailableError } from '../../store/order-records.ts';
import type { OrderTrail } from '../../store/order-trail.ts';
import type { DomainMetrics } from '../domain-metrics.ts';
import type { OrderLines } from './order-line.ts';

export interface CutOffOptions {
  readonly records: Pick<OrderRecords, 'cutOff'>;
  readonly trail: Pick<OrderTrail, 'add'>;
  readonly clock: Clock;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly lines: Pick<OrderLines, 'ofKey'>;
  readonly metrics: Pick<DomainMetrics, 'orders'>;
}

const EVERY_MS = 5_000;

/** Gives an order its line in the log whose process was killed, here or elsewhere. Returns a function that ends it. */
export function watchCutOffs(options: CutOffOptions): () => void {
  const { records, trail, clock, log, lines, metrics } = options;
  let isEnded = false;
  let cancel = () => {};

  async function look(): Promise<void> {
    const found = await records.cutOff().catch((error: unknown) => {
      // They are found once the records are there again.
      if (error instanceof RecordsUnavailableError) return [];
      throw error;
    });
    for (const { reservedAtMs, account, key } of found) {
      const sentAt = new Date(reservedAtMs).toISOString();
      const line = { ...lines.ofKey({ account, key }), sentAt, outcome: 'unknown', isCutOff: true };
      log.warn(line, 'an order ended unknown');
      log.info(line, 'order');
      trail.add({ account, key }, 'cut off', { sentAt, outcome: 'unknown' });
      metrics.orders.add('unknown');
    }
  }

  function again(): void {
    if (isEnded) return;
    const looking = look().finally(() => {
      if (!isEnded) cancel = clock.after(EVERY_MS, again);
    });
    fireAndForget('order record', looking);
  }

  again();
  return () => {
    isEnded = true;
    cancel();
  };
}
