import { expect, test } from 'vitest';
import { openRedisCatalogVersions } from '../../../src/store/redis/catalog-versions.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { startTestRedis } from '../../support/redis.ts';

describeWithRedis('catalog versions in Redis', (serverPath) => {
  test('one replica reads versions that another wrote, for a day', async () => {
    await using redis = await startTestRedis(serverPath);
    const options = { url: redis.url, onWarn: () => {} };
    const one = await openRedisCatalogVersions(options);
    const other = await openRedisCatalogVersions(options);
    try {
      await one.put('["standard","v1"]', '[["AAPL","x"]]');
      expect(await other.get('["standard","v1"]')).toBe('[["AAPL","x"]]');
      expect(await other.get('["standard","v2"]')).toBeNull();
      const [key = ''] = (await redis.command('KEYS', '*catalog*')) as string[];
      const seconds = Number(await redis.command('TTL', key));
      expect(seconds).toBeGreaterThan(86_000);
    } finally {
      one.close();
      other.close();
    }
  });
});
