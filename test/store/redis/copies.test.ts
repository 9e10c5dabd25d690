import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { settleByHand } from '../../../src/store/settlement.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { keyOf } from '../../support/order-keys.ts';
import type { TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, keyFor, request, reserved } from '../order-records-contract.ts';
import { booked, LONG_OVER_MS } from '../settlement-contract.ts';
import { failOver, isMarked, startCopiedRedis, urlThrough } from './failovers.ts';
import { MARKER, openOperator, openReadyReplica, openReplica, recordName } from './replica.ts';

const ROUNDS = inFull(20, 1);
const TIMEOUT = { redisTimeoutMs: 1_000 };
const TOO_FEW = '0 of 1 replicas of Redis';
/** The refusal if the replicas are connected but do not confirm a write. */
const TOO_LATE = '0 of 1 replicas of Redis have it in time';
/** Settles an order that counts as unknown, because tests reserve its key with a deadline that is long over. */
const UNKNOWN = keyFor('1', 'unknown');

async function openDisposableOperator({ url }: TestRedis) {
  const operator = await openOperator(url);
  return Object.assign(operator, { [Symbol.dispose]: () => operator.close() });
}

/** A primary whose replica is down. The first replica of a primary changes its replication id, which counts as a loss. */
async function startLonelyRedis(serverPath: string) {
  const { primary, copies, ...rest } = await startCopiedRedis(serverPath, [0]);
  const copy = copies[0]?.redis as TestRedis;
  await copy.kill();
  await eventually(async () => {
    const replication = String(await primary.command('INFO', 'replication'));
    expect(replication).toContain('connected_slaves:0');
  });
  return { ...rest, ...primary, copy, [Symbol.asyncDispose]: rest[Symbol.asyncDispose] };
}

describeWithRedis('an order is on the replicas of Redis before it is sent', (serverPath) => {
  test.each([
    ['its only replica, 300 ms behind,', { lagsMs: [300], promoted: 0 }],
    ['the slower of two replicas', { lagsMs: [0, 200], promoted: 1 }],
    [
      'with REDIS_REPLICAS=1 the replica with the most writes',
      { lagsMs: [0, 0], promoted: 'leading', redisReplicas: 1 },
    ],
  ] as const)(
    'no order is sent twice if the primary and a process die, and %s is promoted',
    async (_, failover) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const result = await failOver(serverPath, failover);
        if (process.env.FULL) console.log(failover, result);
        expect(result).toMatchObject({ twice: [], refused: 0, acceptedAfterwards: 1 });
      }
    },
    1_200_000,
  );

  test('with REDIS_REPLICAS=0 a promotion is a loss, so no order is sent twice', async () => {
    await using redis = await startCopiedRedis(serverPath, [300]);
    const promoted = redis.copies[0]?.redis as TestRedis;
    const sent = ['k1', 'k2', 'k3'];
    {
      await using one = await openReadyReplica(redis.primary.url, { redisReplicas: 0 });
      await isMarked(promoted, 1);
      for (const key of sent) await reserved(one.records, '1', key);
    }
    await redis.primary.kill();
    redis.copies[0]?.line.cut();
    await promoted.command('REPLICAOF', 'NO', 'ONE');
    await using next = await openReadyReplica(promoted.url, { redisReplicas: 0 });
    for (const key of [...sent, 'new']) {
      const repeat = await next.records.reserve(request('1', key)).catch((error: Error) => error);
      if (repeat instanceof Error) expect(repeat.name).toBe('KeyTooOldError');
      else expect(repeat.reserved).toBe(false);
    }
  });

  test('by default an order is refused while a replica that was once connected is missing', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const { primary, copies } = redis;
    await using one = await openReadyReplica(primary.url, TIMEOUT);
    await eventually(() => one.records.reserve(request('1', 'unknown', LONG_OVER_MS)));
    using operator = await openDisposableOperator(primary);
    const kept = await eventually(() => reserved(one.records, '1', 'kept'));
    await one.records.settle(kept, accepted);
    await eventually(() => one.records.copiesReason() === null);
    await copies[0]?.redis.kill();
    await eventually(() => one.records.copiesReason()?.includes(TOO_FEW) === true);
    // A process that has seen the replica writes the number of replicas again if Redis has lost this number.
    await primary.command('HDEL', MARKER, 'copies');
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow(TOO_FEW);
    await eventually(async () => expect(await primary.command('HGET', MARKER, 'copies')).toBe('1'));
    await expect(operator.hold(false)).rejects.toThrow(TOO_LATE);
    await expect(settleByHand(operator, UNKNOWN, booked)).rejects.toThrow(TOO_FEW);
    expect(await operator.find(UNKNOWN.account, UNKNOWN.key)).toMatchObject({
      outcome: null,
    });
    // A new process knows the number of replicas only from Redis.
    {
      await using next = await openReadyReplica(primary.url, TIMEOUT);
      for (const { records } of [one, next]) {
        const refusal = { name: 'RecordsUnavailableError', earlierUnknown: true };
        await expect(records.reserve(request('1', 'new'))).rejects.toMatchObject(refusal);
        await expect(records.voidKey(keyFor('1', 'new'))).rejects.toThrow(TOO_FEW);
        expect(await records.reserve(request('1', 'kept'))).toMatchObject({ reserved: false });
        await eventually(() => records.copiesReason()?.includes(TOO_FEW) === true);
      }
      expect(await primary.command('EXISTS', recordName('1', 'new'))).toBe(0);
      // A setting of 2 does not count as two replicas that were seen.
      await using withTwo = await openReplica(primary.url, { redisReplicas: 2 });
      expect(withTwo.records.copiesReason()).toContain('0 of 2');
      expect(await primary.command('HGET', MARKER, 'copies')).toBe('1');
      await using withNone = await openReadyReplica(primary.url, { redisReplicas: 0 });
      await reserved(withNone.records, '1', 'of 0');
      expect(withNone.records.copiesReason()).toBe(null);
    }
    await copies[0]?.redis.start();
    await eventually(() => reserved(one.records, '1', 'new'));
  });

  test('a process that started before a replica waits for the replica with an order, a void and an outcome', async () => {
    await using redis = await startLonelyRedis(serverPath);
    // Without timers, these processes look at the store only at their start.
    const clock = { ...systemClock, after: () => () => {} };
    const openWithoutTimers = () => openReadyReplica(redis.url, { ...TIMEOUT, clock });
    await using orders = await openWithoutTimers();
    await using voids = await openWithoutTimers();
    await using outcomes = await openWithoutTimers();
    const early = await reserved(outcomes.records, '1', 'early');
    await redis.copy.start();
    // Another process sees the replica, and writes the number of replicas to Redis.
    await using other = await openReadyReplica(redis.url, TIMEOUT);
    await eventually(async () => expect(await redis.command('HGET', MARKER, 'copies')).toBe('1'));
    await eventually(() => reserved(other.records, '1', 'seen'));
    redis.copy.signal('SIGSTOP');
    const results = await Promise.allSettled([
      orders.records.reserve(request('1', 'k')),
      voids.records.voidKey(keyFor('1', 'void')),
      outcomes.records.settle(early, accepted),
    ]);
    const late = { reason: { message: TOO_LATE } };
    expect(results).toMatchObject([late, late, late]);
  });

  test('a tool that copies Redis, such as a backup, does not count as a replica', async () => {
    await using redis = await startLonelyRedis(serverPath);
    await using one = await openReadyReplica(redis.url, TIMEOUT);
    await eventually(() => reserved(one.records, '1', 'before'));
    const { port, password } = new URL(redis.url);
    const tool = connect(Number(port), '127.0.0.1');
    tool.write(`AUTH ${password}\r\n`);
    await once(tool, 'data');
    tool.write('SYNC\r\n');
    const replicas = () => redis.command('INFO', 'replication').then(String);
    await eventually(async () => expect(await replicas()).toMatch(/port=0,state=online,offset=0/));
    // Waits until the process has looked at the store again.
    const lastLook = () => redis.command('HGET', MARKER, 'touched');
    const before = await lastLook();
    await eventually(async () => (await lastLook()) !== before);
    await eventually(() => one.records.copiesReason() === null);
    await reserved(one.records, '1', 'during');
    tool.destroy();
    await eventually(async () => expect(await replicas()).toContain('connected_slaves:0'));
    await reserved(one.records, '1', 'after');
    expect(await redis.command('HGET', MARKER, 'copies')).toBe(null);
  });

  test('while a replica hangs, orders and voids are refused, but other processes can read', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const [copy] = redis.copies;
    await using one = await openReadyReplica(redis.primary.url, TIMEOUT);
    const early = await eventually(() => reserved(one.records, '1', 'early'));
    await using other = await openReadyReplica(redis.primary.url, TIMEOUT);
    await eventually(() => one.records.reserve(request('1', 'unknown', LONG_OVER_MS)));
    using operator = await openDisposableOperator(redis.primary);
    copy?.redis.signal('SIGSTOP');
    const result = (call: Promise<unknown>) => call.then(String, (error: Error) => error.message);
    const results = [
      result(one.records.reserve(request('1', 'k'))),
      result(one.records.voidKey(keyFor('1', 'void'))),
      result(one.records.settle(early, accepted)),
      result(settleByHand(operator, UNKNOWN, booked)),
    ];
    await eventually(async () => {
      expect(await redis.primary.command('EXISTS', recordName('1', 'void'))).toBe(1);
    });
    // A voided key is reported only once its record is durable.
    results.push(result(other.records.reserve(request('1', 'void'))));
    results.push(result(other.records.find(accountNamed('1'), keyOf('void'))));
    expect(await other.records.find(accountNamed('1'), keyOf('early'))).not.toBe(null);
    expect(await Promise.all(results)).toEqual(results.map(() => TOO_LATE));
    // The settlement that was written is not reported as settled before the replica has it.
    await expect(settleByHand(operator, UNKNOWN, booked)).rejects.toThrow(TOO_LATE);
    expect(one.records.copiesReason()).toContain('answer too late');
    // That a key has no record is reported only once the replicas agree.
    await eventually(async () => {
      await expect(other.records.find(accountNamed('1'), keyOf('k'))).rejects.toThrow(TOO_LATE);
    });
    copy?.redis.signal('SIGCONT');
    await eventually(() => reserved(other.records, '1', 'k'));
    const voided = await eventually(() => one.records.voidKey(keyFor('1', 'void')));
    expect(voided.record.inputDigest).toBe('');
    await one.records.settle(early, accepted);
    // A repeated command succeeds once the outcome is durable.
    expect(await settleByHand(operator, UNKNOWN, booked)).toMatchObject({ kind: 'settled' });
  });

  test('while a replica hangs a void waits for five seconds at most', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    let passFiveSeconds = () => {};
    const clock: Clock = {
      ...systemClock,
      after(ms, task) {
        if (ms !== 5_000) return systemClock.after(ms, task);
        passFiveSeconds = task;
        return () => {};
      },
    };
    await using one = await openReadyReplica(redis.primary.url, { clock });
    await eventually(() => reserved(one.records, '1', 'early'));
    redis.copies[0]?.redis.signal('SIGSTOP');
    const refusal = expect(one.records.voidKey(keyFor('1', 'void'))).rejects.toThrow(
      'the order records take too long to answer',
    );
    passFiveSeconds();
    await refusal;
  });

  test('if the connection breaks before the replicas answer, the order is refused and its key is freed', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    await using line = await startSwitchboard(redis.primary.url);
    await using one = await openReadyReplica(urlThrough(line));
    redis.copies[0]?.redis.signal('SIGSTOP');
    const error = one.records.reserve(request('1', 'k')).catch((reason: unknown) => reason);
    const isRecorded = async () =>
      (await redis.primary.command('EXISTS', recordName('1', 'k'))) === 1;
    await eventually(isRecorded);
    line.cut();
    redis.copies[0]?.redis.signal('SIGCONT');
    expect(await error).toMatchObject({ name: 'RecordsUnavailableError' });
    await eventually(async () => !(await isRecorded()));
    await eventually(() => reserved(one.records, '1', 'k'));
  });
});
