import { expect, test } from 'vitest';
import type { RedisTiming } from '../../../src/store/redis/epoch.ts';
import { RESTORED } from '../../../src/store/redis/epoch-scripts.ts';
import { MERGE } from '../../../src/store/redis/scripts.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request, reserved, unknown } from '../order-records-contract.ts';
import {
  FAR_MS,
  INDEX,
  MARKER,
  MEMBERS,
  membersOf,
  openReadyReplica,
  openReplica,
  PREFIX,
  runScript,
  twoBeats,
} from './replica.ts';

// No replica's lease ends within a test: these are about which replicas are waited for.
const timing = { leaseMs: 60_000, patienceMs: 20_000 };

function open(url: string, change: Partial<RedisTiming> = {}) {
  return openReadyReplica(url, { timing: { ...timing, ...change } });
}

describeWithRedis('an epoch of the order records in Redis', (serverPath) => {
  test('ends with the run of Redis, though its marker outlives that', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url);
    await using b = await open(redis.url);
    await a.records.settle(await reserved(a.records, '1', 'k'), accepted);
    await twoBeats(redis);
    // As after a failover behind one address: the marker was copied, the last record was not.
    await redis.command(
      'EVAL',
      `redis.call('HSET', KEYS[1], 'run', 'another'); redis.call('DEL', KEYS[2], KEYS[3])`,
      ...[3, MARKER, `${PREFIX}:record:1:k`, INDEX],
    );
    expect(await b.records.reserve(request('1', 'k'))).toMatchObject({
      reserved: false,
      record: { outcome: accepted },
    });
  });

  test('is not begun beside replicas that name accounts otherwise, which is said before an order and after it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using _one = await open(redis.url);
    await using other = await openReplica(redis.url, {
      accounts: 'otherwise',
      timing: { beatMs: FAR_MS },
    });
    expect(other.records.degradedReason()).toContain('names the accounts');
    await expect(other.records.reserve(request('1', 'k'))).rejects.toThrow('names the accounts');
    expect(other.records.degradedReason()).toContain('names the accounts');
  });

  test('ends where the former names of accounts come back: a replica with the others, taken for dead, sends nothing again', async () => {
    await using redis = await startTestRedis(serverPath);
    {
      await using before = await open(redis.url);
      await before.records.settle(await reserved(before.records, '1', 'k'), accepted);
    }
    await using slip = await openReplica(redis.url, {
      accounts: 'otherwise',
      timing: { beatMs: FAR_MS },
    });
    await expect(slip.records.reserve(request('other 1', 'k'))).rejects.toThrow(
      'may be incomplete',
    );
    await redis.command('DEL', MEMBERS);
    await using mended = await open(redis.url);
    expect(await mended.records.find(accountNamed('1'), 'k')).toMatchObject({ outcome: accepted });
    await reserved(mended.records, '1', 'new');
    await expect(slip.records.reserve(request('other 1', 'k'))).rejects.toThrow(
      'names the accounts',
    );
  });

  test.each([
    [
      'the list of replicas survived',
      // Redis was away for an hour, without heartbeats.
      `redis.call('ZADD', KEYS[2], redis.call('TIME')[1] * 1000, 'dead')
       for _, one in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
         redis.call('ZINCRBY', KEYS[2], -3600000, one)
       end
       redis.call('HSET', KEYS[1], 'run', 'another')`,
      false,
    ],
    ['only the others remember it', `redis.call('FLUSHALL')`, true],
  ])('waits for a replica that was alive lately, where %s', async (_, loss, isKnown) => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url, { leaseMs: 3_000, patienceMs: 8_000 });
    if (isKnown) {
      await redis.command(
        'EVAL',
        `redis.call('ZADD', KEYS[1], redis.call('TIME')[1] * 1000 + 999, 'dead')`,
        1,
        MEMBERS,
      );
      await twoBeats(redis);
    }
    const startedAtMs = performance.now();
    await redis.command('EVAL', loss, 2, MARKER, MEMBERS);
    // A heartbeat notices it, and must not forget the dead one for having been away.
    await eventually(async () => {
      const run = await redis.command('HGET', MARKER, 'run');
      return run !== null && run !== 'another';
    });
    await reserved(a.records, '1', 'new');
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_500);
  });

  test('waits for one that still writes back, though nobody else knew of it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using line = await startSwitchboard(redis.url);
    const openWith = (url: string, beatMs: number) =>
      // Shorter than the writing back takes, which prolongs the wait with each batch.
      openReplica(url, { max: 2_000, timing: { ...timing, beatMs, leaseMs: 1_500 } });
    // One that has not seen an open epoch at a heartbeat yet has no peers, itself included.
    await using a = await openWith(`redis://:${REDIS_PASSWORD}@${line.address}`, 60_000);
    await Promise.all(Array.from({ length: 1_050 }, (_, n) => reserved(a.records, '1', `k${n}`)));
    await reserved(a.records, '1', 'last');
    line.delayMs = 200;
    await redis.command('FLUSHALL');
    const noticed = a.records.find(accountNamed('1'), 'none');
    await eventually(async () => expect(await redis.command('EXISTS', MARKER)).toBe(1));
    expect(await membersOf(redis)).toHaveLength(1);
    await using b = await openWith(redis.url, 50);
    // In batches, between which other scripts have their turn.
    await eventually(async () => {
      const written = Number(await redis.command('ZCARD', INDEX));
      return written > 0 && written < 1_000;
    });
    expect(await b.records.reserve(request('1', 'last'))).toMatchObject({ reserved: false });
    expect(await noticed).toBe(null);
  });

  test('forgets a replica whose lease is over and a record whose day is, and takes no other’s writing back for its own', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url);
    await redis.command('ZADD', MEMBERS, 1, 'dead');
    await redis.command('ZADD', INDEX, 1, '1:old');
    await eventually(async () => expect(await membersOf(redis)).toHaveLength(1));
    await eventually(async () => expect(await redis.command('EXISTS', INDEX)).toBe(0));
    await reserved(a.records, '1', 'old');
    expect(await redis.command('ZCARD', INDEX)).toBe(1);
    const answer = await runScript(redis, RESTORED, ['late', 'an earlier epoch']);
    expect(answer).toEqual(['foreign']);
  });

  test('keeps what is pending of a replica that it did not wait for any longer', async () => {
    await using redis = await startTestRedis(serverPath);
    await using line = await startSwitchboard(redis.url);
    await using a = await open(redis.url, { leaseMs: 1_000, patienceMs: 8_000 });
    await using b = await open(`redis://:${REDIS_PASSWORD}@${line.address}`);
    const { id } = await reserved(b.records, '1', 'k');
    await twoBeats(redis);
    line.delayMs = 60_000;
    await redis.command('HSET', MARKER, 'run', 'another');
    expect(await a.records.reserve(request('1', 'k'))).toMatchObject({ record: { id } });
    line.cut();
    line.delayMs = 0;
  });

  test('keeps the known outcome of a record, though an earlier write comes later', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url);
    await using b = await open(redis.url);
    const reservation = await reserved(a.records, '1', 'k');
    await a.records.settle(reservation, accepted);
    // From a connection that was given up while Redis stood still.
    const { id, inputDigest, reservedAtMs } = reservation;
    const late = ['1:k', id, inputDigest, reservedAtMs, 0, 60_000, 1, JSON.stringify(unknown)];
    await runScript(redis, MERGE, ['none', 0, 'a', ...late], [`${PREFIX}:record:1:k`]);
    expect(await b.records.find(accountNamed('1'), 'k')).toMatchObject({ outcome: accepted });
  });

  test('keeps an outcome whose replica is gone, and what an earlier version wrote, whatever another one writes back', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url);
    const b = await open(redis.url);
    const keys = ['k', 'earlier'].map((key) => `${PREFIX}:record:1:${key}`);
    await reserved(a.records, '1', 'k');
    await reserved(a.records, '1', 'earlier');
    await redis.command('DEL', ...keys, INDEX);
    const { id } = await reserved(b.records, '1', 'k');
    await b.records.settle({ ...request('1', 'k'), id }, accepted);
    const earlier = await reserved(b.records, '1', 'earlier');
    await redis.command('HDEL', keys[1] ?? '', 'epoch', 'member');
    await b.records.close();
    // Until then the other one names it as a replica to wait for.
    await twoBeats(redis);
    await redis.command('HSET', MARKER, 'run', 'another');
    await eventually(() =>
      a.warnings.some((line) => line.startsWith('2 order keys were reserved')),
    );
    await eventually(() => expect(a.records.degradedReason()).toBe(null));
    // It is ready without waiting for its first heartbeat.
    await using c = await open(redis.url, { beatMs: 60_000 });
    expect(await c.records.find(accountNamed('1'), 'k')).toMatchObject({ id, outcome: accepted });
    expect(await c.records.find(accountNamed('1'), 'earlier')).toMatchObject({ id: earlier.id });
    // Nor is it taken for given back, though its replica lives and has not written it back.
    const [replica = ''] = await membersOf(redis);
    await redis.command('HSET', keys[0] ?? '', 'epoch', 'earlier', 'member', replica);
    expect(await c.records.find(accountNamed('1'), 'k')).toMatchObject({ id, outcome: accepted });
  });

  test('that is not open refuses to look up a key, rather than to report it free', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis.url, { patienceMs: 100 });
    const now = Date.now();
    await redis.command('HSET', MARKER, 'opensAt', now + 60_000, 'latestAt', now + 60_000);
    await expect(a.records.find(accountNamed('1'), 'k')).rejects.toThrow('being written back');
    await expect(a.records.reserve(request('1', 'k'))).rejects.toThrow('being written back');
    expect(a.records.degradedReason()).toContain('recovering');
    // Or the first that finds it open would take the others for dead.
    await twoBeats(redis);
  });
});
