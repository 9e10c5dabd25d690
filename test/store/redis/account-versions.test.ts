import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { RedisAccountVersions } from '../../../src/store/redis/account-versions.ts';
import { accountNamed } from '../../support/accounts.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startTestRedis, type TestRedis } from '../../support/redis.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { accepted, rejected, request, reserved, unknown } from '../order-records-contract.ts';
import { FAR_MS, openReplica } from './replica.ts';

async function open({ url }: TestRedis, clock: Clock = systemClock) {
  const replica = await openReplica(url, { clock });
  const versions = new RedisAccountVersions(replica.records, { clock, redisTimeoutMs: FAR_MS });
  const versionOf = (account: string) => versions.read(accountNamed(account));
  return { ...replica, versionOf };
}

describeWithRedis('the version of an account in Redis', (serverPath) => {
  test('changes for all replicas with each outcome that has changed the account, or may have', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis);
    await using b = await open(redis);
    const seen = [(await b.versionOf('1')).version];
    expect(seen).toEqual([null]);
    const expectNewVersion = async () => {
      const { version } = await b.versionOf('1');
      expect(seen).not.toContain(version);
      seen.push(version);
    };
    for (const outcome of [accepted, unknown]) {
      await a.records.settle(await reserved(a.records, '1', outcome.kind), outcome);
      await expectNewVersion();
    }
    const late = await reserved(a.records, '1', 'late');
    await a.records.settle(late, unknown);
    await expectNewVersion();
    await a.records.settle(late, accepted);
    await expectNewVersion();
    // None of these can have changed the account.
    await a.records.settle(late, accepted);
    await a.records.settle(await reserved(a.records, '1', 'rejected'), rejected);
    await a.records.release(await reserved(a.records, '1', 'released'));
    expect((await b.versionOf('1')).version).toBe(seen.at(-1));
    expect((await b.versionOf('2')).version).toBe(null);
    // The version also changes when another process first answers that an order's outcome is unknown.
    await reserved(a.records, '2', 'k', 30);
    await eventually(async () =>
      expect((await b.records.find(accountNamed('2'), keyOf('k')))?.pendingMs).toBe(0),
    );
    const { version } = await b.versionOf('2');
    expect(version).not.toBe(null);
    await b.records.find(accountNamed('2'), keyOf('k'));
    await b.records.reserve(request('2', 'k'));
    expect((await b.versionOf('2')).version).toBe(version);
  });

  test('has another epoch after Redis was emptied or restarted', async () => {
    await using redis = await startTestRedis(serverPath);
    await using a = await open(redis);
    await using b = await open(redis);
    await a.records.settle(await reserved(a.records, '1', 'k'), accepted);
    const before = await b.versionOf('1');
    await redis.command('FLUSHALL');
    expect((await b.versionOf('1')).epoch).not.toBe(before.epoch);
    const { epoch } = await b.versionOf('1');
    await redis.kill();
    await expect(b.versionOf('1')).rejects.toThrow();
    await redis.start();
    const restarted = await eventually(() => b.versionOf('1'));
    expect(restarted.epoch).not.toBe(epoch);
  });

  test('is waited for until a timeout, and is not requested again for a second', async () => {
    await using redis = await startTestRedis(serverPath);
    const clock = createScriptedClock();
    await using a = await open(redis, clock);
    await a.versionOf('1');
    const { pending } = clock;
    redis.signal('SIGSTOP');
    const waiting = a.versionOf('1');
    waiting.catch(() => {});
    await eventually(() => expect(clock.pending).toBeGreaterThan(pending));
    await clock.advance(FAR_MS);
    await expect(waiting).rejects.toThrow('in time');
    await clock.advance(999);
    const refused = a.versionOf('1').catch(String);
    // A request to Redis would not be answered in this turn of the event loop.
    const nextTurn = new Promise((resolve) => setImmediate(resolve, 'Redis was requested'));
    expect(await Promise.race([refused, nextTurn])).toContain('did not answer');
    redis.signal('SIGCONT');
    await clock.advance(1);
    await a.versionOf('1');
  });
});
