import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis } from '../../support/redis.ts';

const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: $key }) { __typename }
}`;

describeWithRedis('an order with Redis', (serverPath) => {
  test('takes one round trip before it is sent and one afterwards, with the version of its account', async () => {
    await using redis = await startTestRedis(serverPath);
    await using app = await startTestApp({ REDIS_URL: redis.url });
    const token = await app.signIn();
    const place = (key: string) => app.query(ORDER, { token, variables: { key } });
    expect((await place('the-first-of-the-two')).errors).toEqual([]);
    const connection = new Redis(redis.url);
    const monitor = await connection.monitor();
    try {
      const scripts: { script: string; touches: string }[] = [];
      monitor.on('monitor', (_time: string, [name = '', script = '', , ...more]: string[]) => {
        const touches = more.join(' ');
        if (/^eval/i.test(name) && touches.includes('{orders}:record:'))
          scripts.push({ script, touches });
      });
      expect((await place('the-second-of-the-two')).errors).toEqual([]);
      await eventually(() => expect(scripts).toHaveLength(2));
      expect(scripts.every(({ touches }) => touches.includes('the-second-of-the-two'))).toBe(true);
      expect(scripts[1]?.touches).toContain('{orders}:version:');
      expect(scripts[1]?.touches).toContain('accepted');
    } finally {
      monitor.disconnect();
      connection.disconnect();
    }
  });
});
