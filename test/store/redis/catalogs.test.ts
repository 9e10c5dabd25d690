import { expect, test } from 'vitest';
import { createRedisCatalogs } from '../../../src/store/redis/catalogs.ts';
import { connectRedis } from '../../../src/store/redis/connection.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { startTestRedis } from '../../support/redis.ts';

describeWithRedis('former versions of catalogs in Redis', (serverPath) => {
  test('are a thousand at most, however many tenants there are: the oldest make room', async () => {
    await using redis = await startTestRedis(serverPath);
    const prefix = 'trading-graph:';
    const options = { url: redis.url, prefix, onWarn() {}, redisTimeoutMs: 30_000 };
    const connection = await connectRedis(options);
    const { put, get } = createRedisCatalogs(connection, prefix).versions;
    try {
      await put('first', 'text');
      // As of a second ago, by which it is the oldest.
      await redis.command('ZINCRBY', 'trading-graph:catalogs', -1, 'trading-graph:catalog:first');
      for (let tenant = 1; tenant < 1_000; tenant += 1) await put(`of ${tenant}`, 'text');
      expect(await get('first')).toBe('text');
      await put('last', 'text');
      expect([await get('first'), await get('last')]).toEqual([null, 'text']);
      expect(await redis.command('DBSIZE')).toBe(1_002);
      // As where the clock was set back by an hour: what is put now is the latest all the same.
      for (let tenant = 1; tenant < 1_000; tenant += 1) {
        await redis.command(
          'ZINCRBY',
          'trading-graph:catalogs',
          3_600,
          `trading-graph:catalog:of ${tenant}`,
        );
      }
      await put('z', 'text');
      await put('z again', 'text');
      expect([await get('z'), await get('z again'), await get('of 1')]).toEqual([
        'text',
        'text',
        null,
      ]);
      const lives = Number(await redis.command('TTL', 'trading-graph:catalog:z'));
      expect(lives).toBeGreaterThan(86_000);
    } finally {
      connection.close();
    }
  });
});
