import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Orders } from '../../../src/domain/trading/orders.ts';
import type { OrderGateway } from '../../../src/domain/trading/submitter.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openRedisOrderRecords } from '../../../src/store/redis/order-records.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis } from '../../support/redis.ts';
import { acceptedAs, createTestLog, proofOf, ticketOf, viewerOf } from './order-stage.ts';

const viewer = viewerOf('token-1');
const proof = proofOf(viewer);
const ORDER_MS = 5;
/** Of a worker, so that it ends where the records are never there. */
const MOST_ORDERS = 100_000;
const FAR_MS = 30_000;
const timing = { beatMs: 50, graceMs: 800, leaseMs: FAR_MS, patienceMs: FAR_MS };

async function startReplica(url: string, sent: string[]) {
  const records = await openRedisOrderRecords({
    url,
    max: 100_000,
    clock: systemClock,
    uptimeMs: () => performance.now(),
    onWarn() {},
    redisTimeoutMs: FAR_MS,
    timing,
  });
  const gateway: OrderGateway = {
    async openPosition(_viewer, { symbol }) {
      sent.push(symbol);
      // Orders take their time, so that Redis also fails while one is under way.
      await delay(ORDER_MS);
      return acceptedAs(`o-${symbol}`);
    },
    placeLimitOrder: () => Promise.reject(new Error('not used here')),
  };
  const log = createTestLog();
  const orders = new Orders({
    gateway,
    records,
    clock: systemClock,
    orderTimeoutMs: FAR_MS,
    onAccountChanged() {},
    log,
  });
  return { orders, records };
}

type Replica = Awaited<ReturnType<typeof startReplica>>;

describeWithRedis('orders of two replicas', (serverPath) => {
  test('are sent once each while Redis is emptied, killed and restarted without its data', async () => {
    await using redis = await startTestRedis(serverPath);
    const sent: string[] = [];
    const replicas = [await startReplica(redis.url, sent), await startReplica(redis.url, sent)];
    const accepted = new Set<string>();
    let stop = false;

    async function repeatAll(worker: number) {
      for (let n = worker; !stop && n < MOST_ORDERS; n += 1) {
        // Each key is repeated, at either replica.
        const key = `k${(n * 13) % 300}`;
        const { orders, records } = replicas[(n + worker) % 2] as Replica;
        const placed = await orders.place(viewer, proof, ticketOf(key, key)).catch(() => null);
        if (placed?.outcome.outcome === 'accepted') accepted.add(key);
        if (!placed) await eventually(() => records.redisIsUp());
      }
    }

    const workers = Array.from({ length: 12 }, (_, worker) => repeatAll(worker));
    const reach = (count: number) => expect.poll(() => accepted.size).toBeGreaterThanOrEqual(count);
    await reach(50);
    await redis.command('FLUSHALL');
    await reach(120);
    await redis.kill();
    await redis.start();
    await reach(200);
    await redis.command('FLUSHALL');
    await redis.kill();
    await redis.start();
    await reach(300);
    stop = true;
    await Promise.all(workers);

    const twice = [...Map.groupBy(sent, (key) => key)].filter(([, calls]) => calls.length > 1);
    expect(twice.map(([key]) => key)).toEqual([]);
    await Promise.all(replicas.map(({ orders }) => orders.drain()));
    for (const key of accepted) {
      for (const { orders } of replicas) {
        expect(await orders.placed(proof, key)).toMatchObject({
          outcome: { outcome: 'accepted', orderId: `o-${key}` },
        });
      }
    }
    await Promise.all(replicas.map(({ records }) => records.close()));
  }, 600_000);
});
