import { expect, test } from 'vitest';
import {
  closingOf,
  RECORD_LIFE_MS,
  RecordsUnavailableError,
} from '../../../src/store/order-records.ts';
import { LEAVE } from '../../../src/store/redis/epoch-scripts.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { request, reserved } from '../order-records-contract.ts';
import { rememberedMs, voidRequest } from '../void-contract.ts';
import {
  DURABLE,
  EXPECTED,
  HOUR_MS,
  INDEX,
  MARKER,
  MEMBERS,
  openReadyReplica,
  restMs,
  runScript,
  twoBeats,
} from './replica.ts';

const timing = { graceMs: 200, leaseMs: 1_500, patienceMs: 5_000 };
const MINUTE_MS = 60_000;

function open(url: string, maxPerAccount = 1_000) {
  return openReadyReplica(url, { maxPerAccount, timing });
}

/** As if the epoch had begun so long ago, and nothing had been lost for so long. */
async function setMemory(redis: TestRedis, begunMs: number, wholeMs: number): Promise<void> {
  const nowMs = Date.now();
  await redis.command('HSET', MARKER, 'begunAt', nowMs - begunMs, 'since', nowMs - wholeMs);
}

async function expectRemembered(redis: TestRedis, url: string, ms: number): Promise<void> {
  await using replica = await open(url);
  const key = `key ${await redis.command('ZCARD', INDEX)}`;
  const remembered = await eventually(() => rememberedMs(replica.records, key));
  expect(remembered).toBeGreaterThanOrEqual(ms);
  expect(remembered).toBeLessThan(ms + MINUTE_MS);
}

describeWithRedis('a Redis remembers', (serverPath) => {
  test.concurrent('since its epoch began where it keeps no log of its writes, and nothing from before a restart without one', async () => {
    await using redis = await startTestRedis(serverPath);
    await using _replica = await open(redis.url);
    await expectRemembered(redis, redis.url, 0);
    await setMemory(redis, HOUR_MS, 3 * HOUR_MS);
    await expectRemembered(redis, redis.url, HOUR_MS);
    // The log began later than the epoch.
    await redis.command('CONFIG', 'SET', 'appendonly', 'yes');
    await expectRemembered(redis, redis.url, HOUR_MS);
    await redis.command('CONFIG', 'SET', 'appendonly', 'no');
    await setMemory(redis, 3 * HOUR_MS, 3 * HOUR_MS);
    await redis.command('SAVE');
    await redis.kill();
    await redis.start();
    await redis.command('CONFIG', 'SET', 'appendonly', 'yes');
    await expectRemembered(redis, redis.url, 0);
  });

  test.concurrent('as long as all was written back, over restarts, and a day at the most', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using _replica = await open(redis.url);
    await expectRemembered(redis, redis.url, 0);
    await setMemory(redis, HOUR_MS, 3 * HOUR_MS);
    await expectRemembered(redis, redis.url, 3 * HOUR_MS);
    const run = await redis.command('HGET', MARKER, 'run');
    await twoBeats(redis);
    await redis.kill();
    await redis.start();
    await eventually(async () => (await redis.command('HGET', MARKER, 'run')) !== run);
    await expectRemembered(redis, redis.url, 3 * HOUR_MS);
    await setMemory(redis, 0, 90 * HOUR_MS);
    await expectRemembered(redis, redis.url, RECORD_LIFE_MS);
  });

  test.concurrent('nothing from before it was emptied, though replicas write back', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using replica = await open(redis.url);
    await reserved(replica.records, '1', 'kept');
    await setMemory(redis, 3 * HOUR_MS, 3 * HOUR_MS);
    await redis.command('FLUSHALL');
    await eventually(() => replica.records.find(accountNamed('1'), 'kept'));
    await expectRemembered(redis, redis.url, 0);
  });

  test.concurrent('since the epoch began that a replica was taken for dead in, or left in before it had written back', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using replica = await open(redis.url);
    await setMemory(redis, 3 * HOUR_MS, 3 * HOUR_MS);
    await redis.command('ZADD', MEMBERS, Date.now(), 'dead');
    await redis.command('HSET', MARKER, 'run', 'another');
    await eventually(() => replica.records.find(accountNamed('1'), 'none').then(() => true));
    expect(await redis.command('ZSCORE', EXPECTED, 'dead')).toBe('1');
    await expectRemembered(redis, redis.url, 0);
    await setMemory(redis, HOUR_MS, 3 * HOUR_MS);
    await expectRemembered(redis, redis.url, HOUR_MS);
    // It was frozen, and has written its records back now.
    await redis.command('ZADD', EXPECTED, 0, 'dead');
    await expectRemembered(redis, redis.url, 3 * HOUR_MS);
    await runScript(redis, LEAVE, ['not expected']);
    await runScript(redis, LEAVE, ['dead']);
    await expectRemembered(redis, redis.url, 3 * HOUR_MS);
    await redis.command('ZADD', EXPECTED, 1, 'behind');
    await runScript(redis, LEAVE, ['behind']);
    await expectRemembered(redis, redis.url, HOUR_MS);
    // So does the next epoch.
    await redis.command('HSET', MARKER, 'run', 'the next');
    await eventually(() => replica.records.find(accountNamed('1'), 'none').then(() => true));
    await expectRemembered(redis, redis.url, 0);
  });

  test.concurrent('nothing from before a replica left that had not noticed the loss', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await expectRemembered(redis, redis.url, 0);
    await setMemory(redis, HOUR_MS, 3 * HOUR_MS);
    await redis.command('HSET', MARKER, 'run', 'another');
    await expectRemembered(redis, redis.url, 3 * HOUR_MS);
    await setMemory(redis, HOUR_MS, 3 * HOUR_MS);
    await redis.command('HSET', MARKER, 'run', 'another');
    await runScript(redis, LEAVE, ['unaware']);
    await expectRemembered(redis, redis.url, 0);
    // One that is empty has no epoch to say it of.
    await redis.command('FLUSHALL');
    await runScript(redis, LEAVE, ['unaware']);
    expect(await redis.command('EXISTS', MARKER)).toBe(0);
  });
});

describeWithRedis('a closed key', (serverPath) => {
  test.concurrent('stays closed where Redis is emptied, and counts for its account', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url, 10);
    await using b = await open(redis.url, 10);
    const { record } = await a.records.voidKey(voidRequest('1', 'k'));
    for (let round = 0; round < 2; round += 1) {
      await redis.command('FLUSHALL');
      expect(await b.records.reserve(request('1', 'k'))).toEqual({ reserved: false, record });
      const another = b.records.voidKey(voidRequest('1', 'another'));
      await expect(another).rejects.toThrow('never sent of this account');
    }
    const lives = await restMs(redis, 'voids:1');
    expect(lives).toBeGreaterThan(RECORD_LIFE_MS - MINUTE_MS);
    expect(lives).toBeLessThanOrEqual(RECORD_LIFE_MS);
  });

  test.concurrent('is given back by whoever has said so, for the rest of its day', async () => {
    await using redis = await startTestRedis(serverPath);
    const a = await open(redis.url);
    await using asked = await open(redis.url);
    const { record } = await a.records.voidKey(voidRequest('1', 'k'));
    await redis.command('ZADD', INDEX, Date.now() + HOUR_MS, '1:k');
    expect(await asked.records.find(accountNamed('1'), 'k')).toEqual(record);
    await a.records.close();
    await redis.command('FLUSHALL');
    await using late = await open(redis.url);
    expect(await late.records.reserve(request('1', 'k'))).toEqual({ reserved: false, record });
    const lives = await restMs(redis, 'record:1:k');
    expect(lives).toBeGreaterThan(HOUR_MS - MINUTE_MS);
    expect(lives).toBeLessThanOrEqual(HOUR_MS);
  });

  test.concurrent('is the same for all, though Redis was frozen when it was closed', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url);
    await using b = await open(redis.url);
    redis.signal('SIGSTOP');
    const refused = a.records.voidKey(voidRequest('1', 'k'));
    await expect(refused).rejects.toThrow(RecordsUnavailableError);
    redis.signal('SIGCONT');
    const { record } = await eventually(() => b.records.voidKey(voidRequest('1', 'k')));
    expect(closingOf(record)).not.toBe(null);
    for (const { records } of [a, b]) {
      const repeat = await eventually(() => records.reserve(request('1', 'k')));
      expect(repeat).toMatchObject({ reserved: false, record: { id: record.id } });
    }
  });
});
