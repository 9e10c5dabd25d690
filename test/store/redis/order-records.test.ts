import { expect, test } from 'vitest';
import { RECORD_LIFE_MS, RecordsUnavailableError } from '../../../src/store/order-records.ts';
import { shareOf } from '../../../src/store/record-shares.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, rejected, request, reserved, unknown } from '../order-records-contract.ts';
import { booked, LONG_OVER_MS } from '../settlement-contract.ts';
import { itIsAStoreOfOrderRecords } from '../store-contract.ts';
import {
  openOperator,
  openReadyReplica,
  openReplica,
  PREFIX,
  restMs,
  twoBeats,
} from './replica.ts';

/** Of a worker, so that it ends where each is refused at once. */
const MAX_RESERVATIONS = 100_000;

describeWithRedis('order records in Redis', (serverPath) => {
  const openRecords = async (max: number, maxPerAccount = max, onNearlyFull = () => {}) => {
    const redis = await startTestRedis(serverPath, { args: ['--appendonly', 'yes'] });
    const { records } = await openReplica(redis.url, { max, maxPerAccount, onNearlyFull });
    return {
      ...records,
      async [Symbol.asyncDispose]() {
        await records.close();
        await redis[Symbol.asyncDispose]();
      },
    };
  };
  itIsAStoreOfOrderRecords(openRecords, async () => {
    const redis = await startTestRedis(serverPath, { args: ['--appendonly', 'yes'] });
    const { url } = redis;
    const bounds = { max: 2_000, maxPerAccount: 2_000 };
    const maker = await openReadyReplica(url, bounds);
    const other = await openReadyReplica(url, bounds);
    const operator = await openOperator(url);
    return {
      replicas: [maker.records, other.records],
      operator,
      async [Symbol.asyncDispose]() {
        operator.close();
        await maker.records.close();
        await other.records.close();
        await redis[Symbol.asyncDispose]();
      },
    };
  });

  test('an operator’s word that a client was told outlasts a Redis that is emptied, and reaches whoever made the order', async () => {
    await using redis = await startTestRedis(serverPath);
    await using maker = await openReadyReplica(redis.url);
    await using other = await openReadyReplica(redis.url);
    for (const account of ['1', 'innocent']) {
      await maker.records.settle(
        await reserved(maker.records, account, 'k', LONG_OVER_MS),
        unknown,
      );
    }
    const operator = await openOperator(redis.url);
    const account = accountNamed('1');
    await operator.settle({ account, key: 'k', outcome: booked });
    expect(await other.records.find(account, 'k')).toMatchObject({ outcome: booked });
    await twoBeats(redis);
    await redis.command('FLUSHALL');
    for (const { records } of [maker, other]) {
      await eventually(async () => {
        expect(await records.reserve(request('1', 'k'))).toMatchObject({
          record: { outcome: booked },
        });
      });
      const untouched = await records.find(accountNamed('innocent'), 'k');
      expect(untouched).toMatchObject({ outcome: unknown });
    }
    expect(await operator.find(account, 'k')).toMatchObject({ outcome: booked });
    operator.close();
  });

  test('replicas share the bound of an account, which a Redis that was emptied is given back', async () => {
    await using redis = await startTestRedis(serverPath);
    const bounds = { maxPerAccount: 4 };
    await using a = await openReplica(redis.url, bounds);
    await using b = await openReplica(redis.url, bounds);
    for (let n = 0; n < 4; n += 1) {
      const { records } = n % 2 ? a : b;
      await records.settle(await reserved(records, '1', `k${n}`), accepted);
      if (n < 2) continue;
      const of = request('rejected', `k${n}`, 60_000, n === 2 ? 'flood' : 'other');
      const answer = await records.reserve(of);
      if (answer.reserved) await records.settle(answer.reservation, rejected);
    }
    for (let round = 0; round < 2; round += 1) {
      for (const { records } of [a, b]) {
        for (const [login, whose] of Object.entries({ 1: 'account', rejected: 'rejected' })) {
          const refused = records.reserve(request(login, 'new', 60_000, 'flood'));
          await expect(refused).rejects.toMatchObject({ whose });
        }
        await reserved(records, '2', `new ${round} ${records === a.records}`);
      }
      if (round === 0) await redis.command('FLUSHALL');
    }
    const lives = await restMs(redis, 'account:1');
    expect(lives).toBeGreaterThan(RECORD_LIFE_MS - 60_000);
    expect(lives).toBeLessThanOrEqual(RECORD_LIFE_MS);
  });

  test('an account has room as its records expire, and is told when', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url, { maxPerAccount: 3 });
    const made = await Promise.all(['k1', 'k2', 'k3'].map((key) => reserved(a.records, '1', key)));
    const share = (of: string) => shareOf(made.find(({ key }) => key === of)?.id ?? '');
    const account = 'trading-graph:{orders}:account:1';
    const [seconds] = (await redis.command('TIME')) as string[];
    await redis.command(
      'ZADD',
      account,
      `${(Number(seconds) + 3_600) * 1_000}`,
      `${share('k2')}1:k2`,
    );
    const refused = await a.records.reserve(request('1', 'new')).catch((error) => error);
    expect(refused.retryAfterSeconds).toBeGreaterThan(3_000);
    expect(refused.retryAfterSeconds).toBeLessThanOrEqual(3_600);
    await redis.command('ZADD', account, '1', `${share('k1')}1:k1`, '2', `${share('k2')}1:k2`);
    await reserved(a.records, '1', 'new');
    expect(await redis.command('ZCARD', account)).toBe(2);
    await reserved(a.records, '1', 'newer');
    await expect(a.records.reserve(request('1', 'newest'))).rejects.toThrow('of this account');
  });

  test('a record lives a day in Redis, counted from its reservation, and is never made anew where Redis drops it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    const reservation = await reserved(a.records, '1', 'k');
    const key = `${PREFIX}:record:1:k`;
    const life = () => restMs(redis, 'record:1:k');
    expect(await life()).toBeGreaterThan(RECORD_LIFE_MS - 60_000);
    expect(await life()).toBeLessThanOrEqual(RECORD_LIFE_MS);
    await redis.command('PEXPIRE', key, 5_000_000);
    await a.records.settle(reservation, accepted);
    expect(await life()).toBeLessThanOrEqual(5_000_000);
    // Its index survives.
    await using b = await openReplica(redis.url);
    await redis.command('DEL', key);
    expect(await a.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    await expect(b.records.reserve(request('1', 'k'))).rejects.toThrow('dropped');
    await expect(b.records.find(accountNamed('1'), 'k')).rejects.toThrow('dropped');
  });

  test('an emptied Redis gets back what the living replicas made, before it takes a reservation', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    const settled = await reserved(a.records, '1', 'settled');
    await a.records.settle(settled, accepted);
    const pending = await reserved(a.records, '1', 'pending');
    for (let round = 0; round < 3; round += 1) {
      await redis.command('FLUSHALL');
      const [one, two, three] = await Promise.all([
        b.records.reserve(request('1', 'settled')),
        b.records.reserve(request('1', 'pending')),
        b.records.find(accountNamed('1'), 'settled'),
      ]);
      expect(one).toMatchObject({ reserved: false, record: { outcome: accepted } });
      const { id, reservedAtMs } = pending;
      expect(two).toMatchObject({ reserved: false, record: { id, reservedAtMs, outcome: null } });
      expect(two.reserved ? 0 : two.record.pendingMs).toBeGreaterThan(0);
      expect(three).toMatchObject({ outcome: accepted });
    }
    await a.records.settle(pending, accepted);
    expect(await b.records.find(accountNamed('1'), 'pending')).toMatchObject({ outcome: accepted });
    // All three shared one attempt to write back.
    expect(b.warnings.filter((line) => line.includes('written back'))).toHaveLength(3);
    expect(b.records.degradedReason()).toBe(null);
  });

  test('reservations made while Redis is being emptied are never made twice', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    const winners = new Map<string, number>();
    let stop = false;
    const worker = async (records: typeof a.records, offset: number) => {
      for (let n = 0; !stop && n < MAX_RESERVATIONS; n += 1) {
        const key = `k${(n * 7 + offset) % 500}`;
        const answer = await records.reserve(request('1', key)).catch(() => null);
        if (answer?.reserved) winners.set(key, (winners.get(key) ?? 0) + 1);
      }
    };
    const workers = [0, 1, 2, 3].flatMap((n) => [worker(a.records, n), worker(b.records, n)]);
    for (let flush = 0; flush < 3; flush += 1) {
      await expect.poll(() => winners.size).toBeGreaterThan(100 * (flush + 1));
      await redis.command('FLUSHALL');
    }
    await expect.poll(() => winners.size, { timeout: 30_000 }).toBe(500);
    stop = true;
    await Promise.all(workers);
    expect([...winners.values()].filter((times) => times > 1)).toEqual([]);
    expect([...a.warnings, ...b.warnings].join()).not.toContain('twice');
  });

  test('an outcome is written before there is an epoch again, for the rest of its day', async () => {
    await using redis = await startTestRedis(serverPath);
    const uptime = { aheadMs: 0 };
    await using a = await openReplica(redis.url, {
      timing: { beatMs: 60_000 },
      uptimeMs: () => performance.now() + uptime.aheadMs,
    });
    const reservation = await reserved(a.records, '1', 'k');
    // Its only heartbeat found an epoch that was not open yet.
    expect(a.records.degradedReason()).toBe(null);
    await redis.command('FLUSHALL');
    uptime.aheadMs = 3_600_000;
    await a.records.settle(reservation, accepted);
    const left = await restMs(redis, 'record:1:k');
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(RECORD_LIFE_MS - uptime.aheadMs);
  });

  test('a Redis that lost that keys were given back neither keeps them nor gives away those in use', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url);
    await using b = await openReplica(redis.url);
    const older = await reserved(a.records, '1', 'free as well');
    await redis.command('FLUSHALL');
    const keys = ['pending', 'free', 'used again', 'settled again'] as const;
    const [pending, free, used, settled] = await Promise.all(
      keys.map((key) => reserved(a.records, '1', key)),
    );
    await redis.command('SAVE');
    for (const reservation of [older, free, used, settled]) {
      if (reservation) await a.records.release(reservation);
    }
    const usedAgain = await reserved(b.records, '1', 'used again');
    await b.records.settle(await reserved(b.records, '1', 'settled again'), accepted);
    await redis.kill();
    await redis.start();
    const found = (records: typeof a.records, key: string) =>
      eventually(() => records.find(accountNamed('1'), key).then((record) => ({ record })));
    expect(await found(b.records, 'pending')).toMatchObject({ record: { id: pending?.id } });
    expect(await found(a.records, 'used again')).toMatchObject({ record: { id: usedAgain.id } });
    expect(await found(a.records, 'settled again')).toMatchObject({
      record: { outcome: accepted },
    });
    // Its answer may have been lost as well.
    if (used) await a.records.release(used);
    expect(await b.records.find(accountNamed('1'), 'free')).toBe(null);
    expect(await b.records.find(accountNamed('1'), 'free as well')).toBe(null);
    for (const { records } of [a, b]) {
      for (const key of ['pending', 'used again', 'settled again']) {
        expect(await records.reserve(request('1', key))).toMatchObject({ reserved: false });
      }
    }
    await reserved(b.records, '1', 'free');
    expect([...a.warnings, ...b.warnings].join()).not.toContain('twice');
  });

  test('a frozen Redis is asked once for an order, and a reservation without an answer comes free', async () => {
    await using redis = await startTestRedis(serverPath);
    // Were it asked again, the order would wait for an hour.
    await using a = await openReplica(redis.url, {
      redisTimeoutMs: 1_000,
      timing: { patienceMs: 3_600_000 },
    });
    await using b = await openReplica(redis.url);
    await reserved(a.records, '1', 'earlier');
    redis.signal('SIGSTOP');
    await expect(a.records.reserve(request('1', 'k'))).rejects.toThrow('did not answer');
    // This replica knows its own records without Redis.
    expect(await a.records.find(accountNamed('1'), 'earlier')).toMatchObject({ outcome: null });
    redis.signal('SIGCONT');
    // Redis may carry the reservation out only now, before or after it is asked by the other replica.
    await expect
      .poll(() => b.records.reserve(request('1', 'k')).catch(() => null), { timeout: 30_000 })
      .toMatchObject({ reserved: true });
  });

  test('an answer that came while the whole process was paused is in time', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await openReplica(redis.url, { redisTimeoutMs: 500 });
    await reserved(a.records, '1', 'before');
    const asked = a.records.reserve(request('1', 'k'));
    const endsAt = performance.now() + 1_000;
    while (performance.now() < endsAt);
    expect(await asked).toMatchObject({ reserved: true });
  });

  test('a connection on which nothing arrives any more is replaced', async () => {
    await using redis = await startTestRedis(serverPath);
    await using line = await startSwitchboard(redis.url);
    await using a = await openReplica(`redis://:${REDIS_PASSWORD}@${line.address}`, {
      redisTimeoutMs: 1_000,
    });
    await reserved(a.records, '1', 'before');
    // As behind a firewall that has forgotten it: nothing closes it.
    line.delayMs = 600_000;
    await expect(a.records.reserve(request('1', 'k'))).rejects.toThrow('did not answer');
    line.delayMs = 0;
    await eventually(() => reserved(a.records, '1', 'after'));
  });

  test('a Redis without room refuses, and names the setting that would make it forget', async () => {
    await using redis = await startTestRedis(serverPath, {
      args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
    });
    await using a = await openReplica(redis.url);
    await reserved(a.records, '1', 'k');
    await expect.poll(() => a.warnings.join('\n')).toContain('maxmemory-policy allkeys-lru:');
    await expect.poll(() => a.warnings.join('\n')).toContain('appendonly no');
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction', 'maxmemory', '1kb');
    await expect(a.records.reserve(request('1', 'new'))).rejects.toThrow(RecordsUnavailableError);
    // An epoch that cannot be begun refuses the order that notices it.
    await redis.command('DEL', 'trading-graph:{orders}:epoch');
    await expect(a.records.reserve(request('1', 'new'))).rejects.toThrow('OOM');
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await reserved(a.records, '1', 'new');
    // Another Redis may answer by now, with other settings.
    const evicting = ['maxmemory', '100mb', 'maxmemory-policy', 'volatile-ttl'];
    await redis.command('CONFIG', 'SET', ...evicting);
    await redis.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect.poll(() => a.warnings.join('\n')).toContain('maxmemory-policy volatile-ttl:');
  });

  test('a reservation that is given back after its time stays unknown, as other replicas have answered, even when Redis loses it', async () => {
    await using redis = await startTestRedis(serverPath);
    await using one = await openReplica(redis.url);
    await using another = await openReplica(redis.url);
    const [slow, other] = [one.records, another.records];
    const answer = await slow.reserve({ ...request('1', 'k'), pendingMs: 200 });
    if (!answer.reserved) throw new Error('the key is free');
    await eventually(async () =>
      expect((await other.find(accountNamed('1'), 'k'))?.pendingMs).toBe(0),
    );
    await slow.release(answer.reservation);
    const unknown = { reserved: false, record: { outcome: null, pendingMs: 0 } };
    expect(await other.reserve(request('1', 'k'))).toMatchObject(unknown);
    await redis.command('FLUSHALL');
    expect(await other.reserve(request('1', 'k'))).toMatchObject(unknown);
    // The gateway's answer may still come.
    await slow.settle(answer.reservation, accepted);
    expect(await other.find(accountNamed('1'), 'k')).toMatchObject({ outcome: accepted });
    // Nor does one that was cut off meanwhile, as another replica has told.
    const third = await slow.reserve(request('1', 'third'));
    if (!third.reserved) throw new Error('the key is free');
    const marked = '{"kind":"unknown","sentAtMs":1,"message":null}';
    await redis.command('HSET', `${PREFIX}:record:1:third`, 'rank', 1, 'outcome', marked);
    await slow.release(third.reservation);
    await redis.command('FLUSHALL');
    expect(await other.reserve(request('1', 'third'))).toMatchObject({ reserved: false });
    // Redis need not be asked, which may have lost it.
    const second = await slow.reserve({ ...request('1', 'second'), pendingMs: 200 });
    if (!second.reserved) throw new Error('the key is free');
    await eventually(async () =>
      expect((await slow.find(accountNamed('1'), 'second'))?.pendingMs).toBe(0),
    );
    await redis.kill();
    await slow.release(second.reservation);
  });
});
