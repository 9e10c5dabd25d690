import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { closingOf } from '../../../src/store/order-records.ts';
import { LOOK } from '../../../src/store/redis/store-look.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request, reserved, voidRequest } from '../order-records-contract.ts';
import { booked, LONG_OVER_MS } from '../settlement-contract.ts';
import { atBoard, failOver, isMarked, startCopiedRedis, startCopy } from './failovers.ts';
import { MARKER, openOperator, openReadyReplica, openReplica, PREFIX } from './replica.ts';

const ROUNDS = inFull(20, 1);
const TIMEOUT = { redisTimeoutMs: 1_000 };
const SHORT = '0 of 1 replicas of Redis';

const DOUBTED = { account: accountNamed('1'), key: 'doubted', outcome: booked };

async function operatorOf({ url }: TestRedis) {
  const operator = await openOperator(url);
  return Object.assign(operator, { [Symbol.dispose]: () => operator.close() });
}

describeWithRedis('an order is on the replicas of Redis before it is sent', (serverPath) => {
  test.each([
    ['the only replica, 300 ms behind, is promoted', { lagsMs: [300], promoted: 0 }],
    ['the lagging one of two replicas is promoted', { lagsMs: [0, 200], promoted: 1 }],
    [
      'with REDIS_REPLICAS=1 the leading one of two replicas is promoted, and the other follows it',
      { lagsMs: [0, 0], promoted: 'leading', redisReplicas: 1 },
    ],
  ] as const)(
    'if the primary and a process die together, no order is sent twice, and new orders are accepted: %s',
    async (_, failover) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const end = await failOver(serverPath, failover);
        if (process.env.FULL) console.log(failover, end);
        expect(end).toMatchObject({ twice: [], refused: 0, takenAfterwards: 1 });
      }
    },
    1_200_000,
  );

  test('with REDIS_REPLICAS=0 a promotion is a loss: no order is sent twice, and keys without keyMade are refused', async () => {
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
      const again = await next.records.reserve(request('1', key)).catch((error: Error) => error);
      if (again instanceof Error) expect(again.name).toBe('RecordsGapError');
      else expect(again.reserved).toBe(false);
    }
  });

  test('by default it waits for the most replicas ever connected; with fewer it is refused, unless REDIS_REPLICAS is 0', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const { primary, copies } = redis;
    await using one = await openReadyReplica(primary.url, TIMEOUT);
    await eventually(() => one.records.reserve(request('1', 'doubted', LONG_OVER_MS)));
    using operator = await operatorOf(primary);
    const kept = await eventually(() => reserved(one.records, '1', 'kept'));
    await one.records.settle(kept, accepted);
    await eventually(() => one.records.copiesReason() === null);
    await copies[0]?.redis.kill();
    await eventually(() => one.records.copiesReason()?.includes(SHORT) === true);
    // A process that has seen the replica writes their number again if Redis has lost it.
    await primary.command('HDEL', MARKER, 'copies');
    await expect(one.records.reserve(request('1', 'new'))).rejects.toThrow(SHORT);
    await eventually(async () => expect(await primary.command('HGET', MARKER, 'copies')).toBe('1'));
    await expect(operator.hold(false)).rejects.toThrow(/^0 of 1 replicas of Redis have it in time/);
    await expect(operator.settle(DOUBTED)).rejects.toThrow(SHORT);
    expect(await operator.find(DOUBTED.account, DOUBTED.key)).toMatchObject({ outcome: null });
    // A new process knows the number of replicas only from Redis.
    {
      await using next = await openReadyReplica(primary.url, TIMEOUT);
      for (const { records } of [one, next]) {
        const refusal = { name: 'RecordsUnavailableError', earlierUnknown: false };
        await expect(records.reserve(request('1', 'new'))).rejects.toMatchObject(refusal);
        await expect(records.voidKey(voidRequest('1', 'new'))).rejects.toThrow(SHORT);
        expect(await records.reserve(request('1', 'kept'))).toMatchObject({ reserved: false });
        await eventually(() => records.copiesReason()?.includes(SHORT) === true);
      }
      expect(await primary.command('EXISTS', `${PREFIX}:record:1:new`)).toBe(0);
      // A setting is no replica that was seen.
      await using strict = await openReplica(primary.url, { redisReplicas: 2 });
      expect(strict.records.copiesReason()).toContain('0 of 2');
      expect(await primary.command('HGET', MARKER, 'copies')).toBe('1');
      await using careless = await openReadyReplica(primary.url, { redisReplicas: 0 });
      await reserved(careless.records, '1', 'of 0');
      expect(careless.records.copiesReason()).toBe(null);
    }
    await copies[0]?.redis.start();
    await eventually(() => reserved(one.records, '1', 'new'));
  });

  test('a process that started before the replicas waits for them too, for an order, a void and an outcome', async () => {
    await using redis = await startTestRedis(serverPath);
    // These processes look at the store only at their start.
    const clock = { ...systemClock, after: () => () => {} };
    const openBlind = () => openReadyReplica(redis.url, { ...TIMEOUT, clock });
    await using orders = await openBlind();
    await using voids = await openBlind();
    await using outcomes = await openBlind();
    const early = await reserved(outcomes.records, '1', 'early');
    await using copy = await startCopy(serverPath, redis);
    await using seeing = await openReadyReplica(redis.url, TIMEOUT);
    await eventually(async () => expect(await redis.command('HGET', MARKER, 'copies')).toBe('1'));
    await eventually(() => reserved(seeing.records, '1', 'seen'));
    copy.redis.signal('SIGSTOP');
    const written = await Promise.allSettled([
      orders.records.reserve(request('1', 'k')),
      voids.records.voidKey(voidRequest('1', 'void')),
      outcomes.records.settle(early, accepted),
    ]);
    const late = { reason: { message: '0 of 1 replicas of Redis have it in time' } };
    expect(written).toMatchObject([late, late, late]);
  });

  test('a replica whose lag is -1 counts as connected if it has just answered', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    await using one = await openReadyReplica(redis.primary.url, TIMEOUT);
    await eventually(() => reserved(one.records, '1', 'before'));
    // Redis reports this lag at the turn of a second, because one of its two clocks is behind.
    const replication = "redis.call('INFO', 'replication')";
    const text = LOOK.text.replace(replication, `string.gsub(${replication}, 'lag=%d+', 'lag=-1')`);
    const given = JSON.stringify({ laterMs: 0, judgedMs: 0, knownCopies: 0, graceMs: 0 });
    const reply = await redis.primary.command('EVAL', text, 1, MARKER, given);
    expect(JSON.parse(String(reply)).answer).toMatchObject({ kind: 'seen', connected: 1 });
  });

  test('a tool that copies Redis, such as a backup, does not count as a replica', async () => {
    await using redis = await startTestRedis(serverPath);
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
    const at = () => redis.command('HGET', MARKER, 'at');
    const before = await at();
    await eventually(async () => (await at()) !== before);
    await eventually(() => one.records.copiesReason() === null);
    await reserved(one.records, '1', 'during');
    tool.destroy();
    await eventually(async () => expect(await replicas()).toContain('connected_slaves:0'));
    await reserved(one.records, '1', 'after');
    expect(await redis.command('HGET', MARKER, 'copies')).toBe(null);
  });

  test('while a replica hangs, orders and voids are refused, keys stay free, and other processes can read', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    const [copy] = redis.copies;
    await using one = await openReadyReplica(redis.primary.url, TIMEOUT);
    const early = await eventually(() => reserved(one.records, '1', 'early'));
    await using other = await openReadyReplica(redis.primary.url, TIMEOUT);
    await eventually(() => one.records.reserve(request('1', 'doubted', LONG_OVER_MS)));
    using operator = await operatorOf(redis.primary);
    copy?.redis.signal('SIGSTOP');
    const end = (asked: Promise<unknown>) => asked.then(String, (error: Error) => error.message);
    const asked = [
      end(one.records.reserve(request('1', 'k'))),
      end(one.records.voidKey(voidRequest('1', 'void'))),
      end(one.records.settle(early, accepted)),
      end(operator.settle(DOUBTED)),
    ];
    await eventually(async () => {
      expect(await redis.primary.command('EXISTS', `${PREFIX}:record:1:void`)).toBe(1);
    });
    // A closed key is reported only once its record is durable.
    asked.push(end(other.records.reserve(request('1', 'void'))));
    asked.push(end(other.records.find(accountNamed('1'), 'void')));
    expect(await other.records.find(accountNamed('1'), 'early')).not.toBe(null);
    const late = '0 of 1 replicas of Redis have it in time';
    expect(await Promise.all(asked)).toEqual(asked.map(() => late));
    expect(one.records.copiesReason()).toContain('answer too late');
    await eventually(async () =>
      expect(await other.records.find(accountNamed('1'), 'k')).toBe(null),
    );
    copy?.redis.signal('SIGCONT');
    await eventually(() => reserved(other.records, '1', 'k'));
    const closed = await eventually(() => one.records.voidKey(voidRequest('1', 'void')));
    expect(closingOf(closed.record)).not.toBe(null);
    await one.records.settle(early, accepted);
    // A repeated command succeeds once the outcome is durable.
    expect(await operator.settle(DOUBTED)).toMatchObject({ kind: 'settled' });
  });

  test('while a replica hangs a void waits for five seconds, however many orders wait', async () => {
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
    const refusal = expect(one.records.voidKey(voidRequest('1', 'void'))).rejects.toThrow(
      'the order records take too long to answer',
    );
    passFiveSeconds();
    await refusal;
  });

  test('if the connection breaks before the replicas answer, the order is refused, and its key is freed over the next one', async () => {
    await using redis = await startCopiedRedis(serverPath, [0]);
    await using line = await startSwitchboard(redis.primary.url);
    await using one = await openReadyReplica(atBoard(line));
    redis.copies[0]?.redis.signal('SIGSTOP');
    const asked = one.records.reserve(request('1', 'k')).catch((error: Error) => error);
    const isThere = async () =>
      (await redis.primary.command('EXISTS', `${PREFIX}:record:1:k`)) === 1;
    await eventually(isThere);
    line.cut();
    redis.copies[0]?.redis.signal('SIGCONT');
    expect(await asked).toMatchObject({ name: 'RecordsUnavailableError' });
    await eventually(async () => !(await isThere()));
    await eventually(() => reserved(one.records, '1', 'k'));
  });
});
