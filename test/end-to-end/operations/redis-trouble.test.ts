import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { readinessOf } from '../../support/readiness.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { moved, seriesValue } from './scraped.ts';

/** A redis, and a connection to it that stays whatever it refuses to others. */
interface Place {
  readonly redis: TestRedis;
  readonly admin: Redis;
  /** Where it saves to. */
  readonly folder: string;
}

type Act = (place: Place) => Promise<unknown>;

const asks =
  (...words: [string, ...(string | number)[]]): Act =>
  ({ admin }) =>
    admin.call(...words);
const set = (name: string, value: string | number) => asks('CONFIG', 'SET', name, value);

/** A save that fails as on a full disk: something is in the place of its file. */
async function failToSave(place: Place): Promise<void> {
  await mkdir(join(place.folder, 'dump.rdb'));
  await place.admin.call('CONFIG', 'SET', 'save', '3600 1');
  await save(place, 'err');
}

async function saveAgain(place: Place): Promise<void> {
  await rmdir(join(place.folder, 'dump.rdb'));
  await save(place, 'ok');
}

async function save({ admin }: Place, expected: string): Promise<void> {
  await eventually(async () => {
    await admin.call('BGSAVE').catch(() => {});
    expect(await admin.info('persistence')).toContain(`rdb_last_bgsave_status:${expected}`);
  });
}

async function changePassword({ admin }: Place): Promise<void> {
  await admin.call('CONFIG', 'SET', 'requirepass', 'another');
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
}

const TROUBLES: readonly [reason: string, kind: string, begin: Act, end: Act][] = [
  ['OOM', 'OOM', set('maxmemory', 1), set('maxmemory', 0)],
  ['READONLY', 'READONLY', asks('REPLICAOF', '127.0.0.1', '1'), asks('REPLICAOF', 'NO', 'ONE')],
  ['MISCONF', 'MISCONF', failToSave, saveAgain],
  ['NOREPLICAS', 'NOREPLICAS', set('min-replicas-to-write', 1), set('min-replicas-to-write', 0)],
  ['NOAUTH', 'NOAUTH', changePassword, set('requirepass', REDIS_PASSWORD)],
  ['away', 'connection', ({ redis }) => redis.kill(), ({ redis }) => redis.start()],
];

const ORDER = `mutation ($key: String!) {
  placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: $key }) { __typename }
}`;

describeWithRedis('a Redis that fails', (serverPath) => {
  test.concurrent.each(TROUBLES)(
    'has one line and one metric, by its own answer: %s',
    async (reason, kind, begin, end) => {
      await using redis = await startTestRedis(serverPath);
      const admin = new Redis(redis.url);
      admin.on('error', () => {});
      using _admin = { [Symbol.dispose]: () => admin.disconnect() };
      const [, folder] = (await admin.call('CONFIG', 'GET', 'dir')) as [string, string];
      await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
      await using app = await startTestApp(
        { REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: '100000' },
        { gateway },
      );
      const token = gateway.token({ email: 'demo@example.com' });
      let orders = 0;
      const order = async () => {
        orders += 1;
        const { data, errors } = await app.query(ORDER, { token, variables: { key: `${orders}` } });
        return errors[0]?.extensions.code ?? data.placeOrder.__typename;
      };
      await eventually(async () => expect(await order()).toMatch(/^Order/));
      await begin({ redis, admin, folder });
      await eventually(async () => {
        expect(await order()).toBe('IDEMPOTENCY_UNAVAILABLE');
        const { reasons, details } = await readinessOf(app.adminUrl);
        expect(reasons).toEqual(['order-store', 'redis']);
        expect(details[1]).toEqual({
          code: 'redis',
          detail: expect.stringContaining(`(${reason})`),
        });
      });
      const errors = `redis_errors_total{kind="${kind}"}`;
      const before = await seriesValue(app, errors);
      // It goes on, and is not told again.
      await eventually(async () => (await seriesValue(app, errors)) >= before + 3);
      expect(await seriesValue(app, 'degraded{reason="redis"}')).toBe(1);
      if (reason === 'away') expect(await seriesValue(app, 'redis_up')).toBe(0);

      await end({ redis, admin, folder });
      await eventually(async () => {
        expect(await readinessOf(app.adminUrl)).toMatchObject({ status: 'ok' });
      });
      expect(await order()).toMatch(/^Order/);
      const lines = () => app.logged.map((line) => JSON.parse(line));
      // An episode of trouble ends with Redis is back: its last part is what came after the last of them.
      const episodes = () => {
        const parts: string[][] = [[]];
        const told = lines().filter(({ msg, reason }) => msg.startsWith('Redis ') && reason);
        for (const { level, msg, reason } of told) {
          if (msg === 'Redis is back') parts.push([]);
          else parts.at(-1)?.push(`${level} ${reason}`);
        }
        return parts;
      };
      await eventually(() => episodes().length > 1 && episodes().at(-1)?.length === 0);
      const ended = episodes().slice(0, -1);
      expect(ended[0]).toContain(`warn ${reason}`);
      // A machine so busy that nothing was asked of Redis for seconds may have another episode, also of a late answer, and
      // one with the reason of a command that timed out meanwhile; each reason is told of once in an episode.
      for (const told of ended) {
        expect(told).not.toEqual([]);
        expect(told).toEqual([...new Set(told)]);
        for (const line of told) expect(line).toMatch(/^warn /);
      }
      expect(await seriesValue(app, 'redis_up')).toBe(1);
    },
  );

  test('the time that it takes to count is measured', async () => {
    await using redis = await startTestRedis(serverPath);
    // Counts are shared in batches of a hundredth of the limit: here each request's.
    const settings = { REDIS_URL: redis.url, RATE_LIMIT_PER_MINUTE: '100' };
    await using app = await startTestApp(settings);
    await moved(app, 'redis_count_seconds_count', 1, () => app.query('{ __typename }'));
  });
});
