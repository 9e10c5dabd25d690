import { expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { RecordsUnavailableError } from '../../../src/store/order-records.ts';
import { openRedisOrderRecords } from '../../../src/store/redis/order-records.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis } from '../../support/redis.ts';
import { accepted, request, reserved } from '../order-records-contract.ts';

const PENDING_MS = 200;
const FAR_MS = 30_000;

function openReplica(url: string) {
  return openRedisOrderRecords({
    url,
    max: 100,
    clock: systemClock,
    uptimeMs: () => performance.now(),
    onWarn() {},
    redisTimeoutMs: FAR_MS,
    timing: { beatMs: 50, graceMs: 100, leaseMs: FAR_MS, patienceMs: FAR_MS },
  });
}

describeWithRedis('a reservation that is given back after its time', (serverPath) => {
  test('stays unknown, as other replicas have answered, even when Redis loses it', async () => {
    await using redis = await startTestRedis(serverPath);
    const [slow, other] = [await openReplica(redis.url), await openReplica(redis.url)];
    const answer = await slow.reserve({ ...request('1', 'k'), pendingMs: PENDING_MS });
    if (!answer.reserved) throw new Error('the key is free');
    await eventually(async () => (await other.find('1', 'k'))?.pendingMs === 0);
    await slow.release(answer.reservation);
    const unknown = { reserved: false, record: { outcome: null, pendingMs: 0 } };
    expect(await other.reserve(request('1', 'k'))).toMatchObject(unknown);
    await redis.command('FLUSHALL');
    expect(await other.reserve(request('1', 'k'))).toMatchObject(unknown);
    // The gateway's answer may still come.
    await slow.settle(answer.reservation, accepted);
    expect(await other.find('1', 'k')).toMatchObject({ outcome: accepted });
    // Redis need not be asked, which may have lost it.
    const second = await slow.reserve({ ...request('1', 'second'), pendingMs: PENDING_MS });
    if (!second.reserved) throw new Error('the key is free');
    await eventually(async () => (await slow.find('1', 'second'))?.pendingMs === 0);
    await redis.kill();
    await slow.release(second.reservation);
    await Promise.all([slow.close(), other.close()]);
  });

  test('stays unknown for all, where Redis was restarted meanwhile', async () => {
    await using redis = await startTestRedis(serverPath);
    const [slow, other] = [await openReplica(redis.url), await openReplica(redis.url)];
    const reservation = await reserved(slow, '1', 'k');
    await redis.command('SAVE');
    await redis.kill();
    await expect(slow.release(reservation)).rejects.toThrow(RecordsUnavailableError);
    await redis.start();
    await eventually(() => slow.find('1', 'another').then(() => true));
    await redis.command('HSET', 'trading-graph:{orders}:record:1:k', 'deadline', 0);
    await slow.release(reservation);
    const unknown = { reserved: false, record: { outcome: null, pendingMs: 0 } };
    expect(await slow.reserve(request('1', 'k'))).toMatchObject(unknown);
    expect(await other.reserve(request('1', 'k'))).toMatchObject(unknown);
    await redis.command('FLUSHALL');
    expect(await other.reserve(request('1', 'k'))).toMatchObject(unknown);
    await Promise.all([slow.close(), other.close()]);
  });
});
