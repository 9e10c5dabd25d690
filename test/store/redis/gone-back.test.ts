import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import type { Durability } from '../../../src/store/redis/durability.ts';
import { DECLARE } from '../../../src/store/redis/order-status.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { accepted, request, reserved } from '../order-records-contract.ts';
import { rememberedMs } from '../void-contract.ts';
import {
  DURABLE,
  HOUR_MS,
  INDEX,
  MARKER,
  MEMBERS,
  membersOf,
  openReplica,
  PREFIX,
  runScript,
  twoBeats,
} from './replica.ts';

const BEAT_MS = 50;
/** Between two attempts of an order that waits for Redis. */
const WAIT_MS = 50;
const INCOMPLETE = 'may be incomplete';

/** The clocks of replicas that share a machine. Their heartbeats can be held back, so that none is under way while time is set. */
class SharedClocks {
  aheadMs = 0;
  #held: (() => void)[] | null = null;
  readonly clock: Clock = {
    ...systemClock,
    after: (ms, task) =>
      systemClock.after(ms, () => {
        if (ms === BEAT_MS && this.#held !== null) this.#held.push(task);
        else task();
      }),
  };

  async whileHeld(replicas: number, set: () => Promise<unknown>): Promise<void> {
    const held: (() => void)[] = [];
    this.#held = held;
    await eventually(() => expect(held).toHaveLength(replicas));
    await set();
    this.#held = null;
    for (const beat of held) beat();
  }
}

async function open(
  url: string,
  durability: Durability,
  clocks = new SharedClocks(),
  leaseMs = 1_500,
) {
  const replica = await openReplica(url, {
    clock: clocks.clock,
    durability,
    timing: { beatMs: BEAT_MS, graceMs: 200, leaseMs, patienceMs: 20_000 },
    uptimeMs: () => performance.now() + clocks.aheadMs,
  });
  await eventually(() => !replica.records.degradedReason()?.includes('written back'));
  return replica;
}

type Replica = Awaited<ReturnType<typeof open>>;

async function order({ records }: Replica, key: string): Promise<void> {
  await records.settle(await reserved(records, '1', key), accepted);
}

/** Brings Redis back from a copy of its files that was made before `meanwhile`. */
async function setBack(redis: TestRedis, meanwhile: () => Promise<void>): Promise<void> {
  const [, folder = ''] = (await redis.command('CONFIG', 'GET', 'dir')) as string[];
  const [files, copy] = [join(folder, 'appendonlydir'), join(folder, 'copy')];
  await cp(files, copy, { recursive: true });
  await meanwhile();
  await twoBeats(redis);
  await redis.kill();
  await rm(files, { recursive: true });
  await cp(copy, files, { recursive: true });
  await redis.start();
}

describeWithRedis('a Redis that came back from an older file', (serverPath) => {
  test.each([
    ['has left', async (_: TestRedis, old: Replica) => old.records.close()],
    [
      'has died',
      async (redis: TestRedis) => {
        await redis.command('ZADD', MEMBERS, Date.now(), 'dead');
      },
    ],
  ])(
    'refuses the keys it does not know where a replica that made some of them %s, until an operator knows better',
    async (how, end) => {
      await using redis = await startTestRedis(serverPath, DURABLE);
      await using old = await open(redis.url, 'required');
      await using next = await open(redis.url, 'required');
      await order(old, 'kept');
      await setBack(redis, async () => {
        await order(how === 'has left' ? old : next, 'lost');
        await end(redis, old);
      });
      await eventually(() => next.records.gapReason()?.includes(INCOMPLETE) === true);
      await using late = await open(redis.url, 'required');
      for (const { records } of [next, late]) {
        await expect(records.reserve(request('1', 'unknown'))).rejects.toThrow(INCOMPLETE);
        await expect(records.find(accountNamed('1'), 'unknown')).rejects.toThrow(INCOMPLETE);
        expect(await records.reserve(request('1', 'kept'))).toMatchObject({ reserved: false });
      }
      // It is closed, and nobody says that nothing was sent.
      expect(await rememberedMs(next.records, 'void')).toBeLessThan(HOUR_MS);
      // Nor is it forgotten by the next restart.
      await redis.kill();
      await redis.start();
      for (const { records } of [next, late]) {
        const refused = () => records.reserve(request('1', 'unknown')).catch(String);
        await eventually(async () => expect(await refused()).toContain(INCOMPLETE));
      }
      // Nor where it was found by a date a day behind.
      await redis.command('HINCRBY', MARKER, 'missingAt', -25 * HOUR_MS);
      await expect(next.records.reserve(request('1', 'unknown'))).rejects.toThrow(INCOMPLETE);
      await runScript(redis, DECLARE, [0]);
      expect(await next.records.reserve(request('1', 'unknown'))).toMatchObject({ reserved: true });
      await eventually(() => expect(next.records.gapReason()).toBe(null));
    },
  );

  test('is whole again where all who made its records live', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    // None of them is taken for dead.
    const openLasting = () => open(redis.url, 'required', undefined, 60_000);
    await using one = await openLasting();
    await using other = await openLasting();
    await using gone = await open(redis.url, 'required');
    await order(gone, 'earlier');
    await gone.records.close();
    await setBack(redis, async () => {
      // It was started in vain, as where its port is in use.
      await using _idle = await open(redis.url, 'required');
      await order(one, 'late');
    });
    const answer = await eventually(() => other.records.reserve(request('1', 'late')));
    expect(answer).toMatchObject({ reserved: false });
    expect(await other.records.reserve(request('1', 'new'))).toMatchObject({ reserved: true });
    expect(other.records.degradedReason()).toBe(null);
  });

  test('keeps the gap of an order by other names of accounts, which was written back', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await (await open(redis.url, 'wished')).records.close();
    {
      await using slip = await openReplica(redis.url, { accounts: 'otherwise' });
      await eventually(() => slip.records.gapReason()?.includes(INCOMPLETE) === true);
      await setBack(redis, async () => {
        const order = { ...made('lost', -120_000), account: accountNamed('other 1') };
        expect(await slip.records.reserve(order)).toMatchObject({ reserved: true });
      });
      await eventually(() => expect(slip.warnings.join()).toContain('written back'));
      await eventually(() => expect(slip.records.degradedReason()).toBe(null));
    }
    await using mended = await open(redis.url, 'wished');
    await expect(mended.records.reserve(request('1', 'lost'))).rejects.toThrow(INCOMPLETE);
  });

  test('is as good as new where that was accepted', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using old = await open(redis.url, 'none');
    await using next = await open(redis.url, 'none');
    await setBack(redis, async () => {
      await order(old, 'lost');
      await old.records.close();
    });
    const answer = await eventually(() => next.records.reserve(request('1', 'lost')));
    expect(answer).toMatchObject({ reserved: true });
  });
});

describeWithRedis('a clock of Redis that is set', (serverPath) => {
  test('far ahead drops records early, which living replicas write back; the others’ keys are refused', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    const clocks = new SharedClocks();
    await using gone = await open(redis.url, 'required');
    await order(gone, 'lost');
    await using one = await open(redis.url, 'required', clocks);
    await using other = await open(redis.url, 'required', clocks);
    await order(one, 'own');
    await gone.records.close();
    await twoBeats(redis);
    // Nobody can set the clock of one process: instead theirs is behind, and what would have ended is removed.
    await clocks.whileHeld(2, async () => {
      clocks.aheadMs = -25 * HOUR_MS;
      for (const id of ['1:lost', '1:own']) {
        await redis.command('DEL', `${PREFIX}:record:${id}`);
      }
    });
    await eventually(() => one.warnings.some((warning) => /was set by 9\d{4} s/.test(warning)));
    // Until `one` has written its record back, the key is refused as the others' keys are.
    expect(await eventually(() => other.records.reserve(request('1', 'own')))).toMatchObject({
      record: { outcome: accepted },
    });
    await eventually(() => expect(other.records.degradedReason()).toBe(null));
    await expect(other.records.reserve(request('1', 'lost'))).rejects.toThrow('dropped the record');
    expect(await other.records.reserve(request('1', 'new'))).toMatchObject({ reserved: true });
    // Back again, while an epoch that began in between opens in 25 hours.
    await clocks.whileHeld(2, async () => {
      clocks.aheadMs = 0;
      await redis.command('HSET', MARKER, 'opensAt', Date.now() + 25 * HOUR_MS);
    });
    await eventually(() => one.warnings.some((warning) => /was set by -9\d{4} s/.test(warning)));
    expect(await one.records.reserve(request('1', 'newer'))).toMatchObject({ reserved: true });
  });

  test('a day ahead, though everything has begun since, ends no record: what has ended is past by the clocks of a replica and its gateway', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    const first = await open(redis.url, 'required');
    await order(first, 'k');
    await first.records.close();
    // As Redis has it 25 hours later.
    await redis.command('ZINCRBY', INDEX, -25 * HOUR_MS, '1:k');
    await redis.command('PEXPIRE', `${PREFIX}:record:1:k`, 47 * HOUR_MS);
    const behind = { ...systemClock, date: () => Date.now() - 25 * HOUR_MS };
    for (const clocks of [
      { clock: behind },
      { gatewaySkewMs: () => -25 * HOUR_MS },
      { gatewaySkewMs: () => 61_000 },
      { gatewaySkewMs: () => null },
    ]) {
      await using replica = await openReplica(redis.url, clocks);
      await twoBeats(redis);
      expect(await replica.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    }
    await using right = await openReplica(redis.url, { gatewaySkewMs: () => 60_000 });
    await eventually(async () => expect(await redis.command('ZSCORE', INDEX, '1:k')).toBe(null));
    expect(await redis.command('EXISTS', `${PREFIX}:record:1:k`)).toBe(0);
    // Nor is an older key taken that they may have forgotten.
    const old = { ...made('k', 24 * HOUR_MS), account: accountNamed('1') };
    const forgotten = { ...old, keyTime: { ...old.keyTime, ageMs: 24 * HOUR_MS } };
    await expect(right.records.reserve(forgotten)).rejects.toThrow('do not reach back');
    expect(await right.records.reserve(request('1', 'k'))).toMatchObject({ reserved: true });
  });
});

/** The request of a replica whose clocks are right, for a key that was made so long ago. */
function made(key: string, agoMs: number) {
  const laterMs = Date.now();
  return { ...request('1', key), keyTime: { madeMs: laterMs - agoMs, laterMs, differMs: 0 } };
}

describeWithRedis('an older state of Redis', (serverPath) => {
  type Leave = (beforeIt?: () => Promise<unknown>) => Promise<void>;
  test.each<[string, (redis: TestRedis, leave: Leave) => Promise<void>]>([
    ['from its files, after a replica has left', setBack],
    [
      'that is empty, after a replica that was taken for dead has left',
      async (redis, leave) => {
        await leave(() => redis.command('DEL', MEMBERS));
        await eventually(async () => expect(await membersOf(redis)).toHaveLength(2));
        await twoBeats(redis);
        await redis.command('FLUSHALL');
      },
    ],
    [
      'that is empty, after a replica has left',
      async (redis, leave) => {
        await leave();
        await twoBeats(redis);
        await redis.command('FLUSHALL');
      },
    ],
    [
      'that nothing shows, and an operator says it',
      async (redis, leave) => {
        await leave();
        await redis.command('DEL', `${PREFIX}:record:1:lost`);
        await redis.command('ZREM', INDEX, '1:lost');
        await runScript(redis, DECLARE, [2]);
      },
    ],
  ])('takes young keys alone, on every replica: %s', async (_, lose) => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    await using old = await open(redis.url, 'required');
    await using next = await open(redis.url, 'required');
    await using other = await open(redis.url, 'required');
    await lose(redis, async (beforeIt = async () => {}) => {
      expect(await old.records.reserve(made('lost', -59_000))).toMatchObject({ reserved: true });
      await beforeIt();
      await old.records.close();
    });
    const replicas = [next, other];
    const refused = ({ records }: Replica, key: string, agoMs: number) =>
      records.reserve(made(key, agoMs)).then(String, (error: Error) => error.name);
    for (const replica of replicas) {
      await eventually(() => replica.records.gapReason()?.includes(INCOMPLETE) === true);
      // Clocks that were never compared with the gateway's say nothing.
      const unmeasured = {
        ...request('1', 'k'),
        keyTime: { ...made('k', -59_000).keyTime, laterMs: null },
      };
      await expect(replica.records.reserve(unmeasured)).rejects.toThrow(INCOMPLETE);
    }
    for (const replica of replicas)
      expect(await refused(replica, 'lost', -55_000)).toBe('RecordsGapError');
    await eventually(() => next.records.gapReason()?.includes('others are taken') === true);
    const young = () => made('young', -59_000);
    await eventually(async () => expect((await next.records.reserve(young())).reserved).toBe(true));
    expect(await other.records.reserve(young())).toMatchObject({ reserved: false });
    for (const replica of replicas)
      expect(await refused(replica, 'old', 0)).toBe('RecordsGapError');
  });

  test('is not dated by clocks that were read for an order before a replica knew of it', async () => {
    await using redis = await startTestRedis(serverPath, DURABLE);
    const waiting: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      after: (ms, task) => {
        if (ms !== WAIT_MS) return systemClock.after(ms, task);
        waiting.push(task);
        return () => {};
      },
    };
    const timing = { beatMs: BEAT_MS - 10, graceMs: 200, leaseMs: 1_500, patienceMs: 20_000 };
    await using next = await openReplica(redis.url, { clock, durability: 'required', timing });
    {
      await using old = await open(redis.url, 'required');
      await order(old, 'lost');
      await twoBeats(redis);
    }
    await twoBeats(redis);
    await redis.command('FLUSHALL');
    const early = next.records.reserve(made('early', -59_000)).catch((error: unknown) => error);
    await eventually(() => next.records.gapReason() !== null);
    await eventually(() => waiting.length > 0);
    for (const task of waiting.splice(0)) task();
    expect(await early).toMatchObject({ name: 'RecordsGapError', untilMs: null, isWaiting: true });
    const dated = next.records.reserve(made('later', 0)).catch((error: unknown) => error);
    expect(await dated).toMatchObject({ name: 'RecordsGapError', untilMs: expect.any(Number) });
  });
});
