import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { readinessOf } from '../../support/readiness.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import type { Line } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

/** Changes a Redis. The connection `admin` stays open when others are refused. */
type Change = (admin: Redis, redis: TestRedis) => Promise<unknown>;

const set =
  (name: string, value: string | number): Change =>
  (admin) =>
    admin.call('CONFIG', 'SET', name, value);

async function changePassword(admin: Redis): Promise<void> {
  await admin.call('CONFIG', 'SET', 'requirepass', 'another');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

const TROUBLES: readonly [reason: string, begin: Change, end: Change][] = [
  ['OOM', set('maxmemory', 1), set('maxmemory', 0)],
  ['NOAUTH', changePassword, set('requirepass', REDIS_PASSWORD)],
  ['away', (_, redis) => redis.kill(), (_, redis) => redis.start()],
];

describeWithRedis('a Redis that fails', (serverPath) => {
  test.concurrent.each(TROUBLES)(
    'has one log line with its own reason: %s',
    async (reason, begin, end) => {
      await using redis = await startTestRedis(serverPath);
      const admin = new Redis(redis.url);
      admin.on('error', () => {});
      using _admin = { [Symbol.dispose]: () => admin.disconnect() };
      await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
      await using app = await startTestApp(
        { REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: '100000' },
        { gateway },
      );
      const token = gateway.token({ email: 'demo@example.com' });
      let orders = 0;
      const order = async () => {
        orders += 1;
        const { data, errors } = await app.query(buying(`${orders}`, '__typename'), { token });
        return errors[0]?.extensions.code ?? data.placeOrder.__typename;
      };
      await eventually(async () => expect(await order()).toMatch(/^Order/));
      await begin(admin, redis);
      await eventually(async () => {
        expect(await order()).toBe('IDEMPOTENCY_UNAVAILABLE');
        const { reasons, details } = await readinessOf(app.adminUrl);
        expect(reasons).toEqual(['order-store', 'redis']);
        const detail = expect.stringContaining(`(${reason})`);
        expect(details[1]).toEqual({ code: 'redis', detail });
      });
      expect(await seriesValue(app, 'degraded{reason="redis"}')).toBe(1);
      const lines = () => app.logged.map((line): Line => JSON.parse(line));
      const isBack = ({ msg }: Line) => msg === 'Redis is back';
      const isWarning = (line: Line) => line.reason === reason && !isBack(line);
      await eventually(() => lines().some(isWarning));

      await end(admin, redis);
      // A restarted Redis has lost its records.
      const isLoss = reason === 'away';
      await eventually(async () => {
        const { reasons = [] } = await readinessOf(app.adminUrl);
        expect(reasons).toEqual([]);
      });
      expect(await order()).toMatch(isLoss ? 'IDEMPOTENCY_UNAVAILABLE' : /^Order/);
      await eventually(() => lines().some(isBack));
      const redisLines = lines().filter(({ msg }) => msg.startsWith('Redis '));
      const warnings = redisLines.filter(isWarning);
      // A busy machine can cause another failure, with a line of its own and another end.
      expect(warnings.length).toBeLessThanOrEqual(redisLines.filter(isBack).length);
      expect(warnings.length).toBeGreaterThan(0);
    },
  );
});
