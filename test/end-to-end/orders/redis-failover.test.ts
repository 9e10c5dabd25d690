import { expect, test } from 'vitest';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD } from '../../support/redis.ts';
import { SENTINEL_PASSWORD, startWatchedRedis } from '../../support/sentinel.ts';
import { startOrderFacade } from './order-facade.ts';
import { buying } from './order-request.ts';

/** A Sentinel that was held up for two seconds promotes nothing for the next thirty. */
const TILT = { withinMs: 90_000 };
const THREE_NODES = { replicas: 2, args: ['--min-replicas-to-write', '1'] };

describeWithRedis('three nodes that write to two', (serverPath) => {
  test('take orders again when the primary is gone for good, each of them once', async () => {
    await using watched = await startWatchedRedis(serverPath, THREE_NODES);
    await using facade = await startOrderFacade({
      REDIS_URL: `redis-sentinel://:${REDIS_PASSWORD}@${watched.address}/orders/0?sentinelPassword=${SENTINEL_PASSWORD}`,
    });
    const { sandbox } = facade;
    const client = facade.client();
    const placed: string[] = [];
    const place = async (key: string) => {
      expect(await client.place(buying(key))).toMatchObject({ type: 'OrderAccepted' });
      placed.push(key);
    };
    await eventually(() => place('before'));
    await watched.primary.kill();
    const refused = await client.place(buying('meanwhile'));
    // The reservation itself failed: nothing was sent, and the key is free.
    expect(refused).toMatchObject({ kind: 'error', code: 'IDEMPOTENCY_UNAVAILABLE' });
    // Nobody brings the third node back: the promoted one has the other for its replica.
    await eventually(() => place('meanwhile'), TILT);
    await place('after');
    for (const key of placed) {
      expect(await client.place(buying(key))).toMatchObject({
        ...{ type: 'OrderAccepted', replayed: true },
      });
    }
    expect(placed).toEqual(['before', 'meanwhile', 'after']);
    expect(sandbox.calls('openPosition')).toBe(3);
  }, 180_000);
});
