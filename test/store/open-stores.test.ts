import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { settleByHand } from '../../src/store/settlement.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { startTestRedis } from '../support/redis.ts';
import { startScriptedGateway } from '../support/scripted-gateway.ts';
import { keyFor, rejected, request, reserved, unknown } from './order-records-contract.ts';
import { openOperator } from './redis/replica.ts';
import { booked, LONG_OVER_MS } from './settlement-contract.ts';
import { openOnRedis } from './stores-on-redis.ts';

/** The figures of a bucket of five that refills in an hour, with a usage of one. */
const FIGURES = [5, 5 / 3_600_000, 1];

describeWithRedis('the stores in Redis', (serverPath) => {
  test('use only keys with the prefix in the configured database, and close their connections', async () => {
    await using redis = await startTestRedis(serverPath);
    const connections = async () =>
      String(await redis.command('CLIENT', 'LIST'))
        .trim()
        .split('\n').length;
    const before = await connections();
    await using stores = await openOnRedis(`${redis.url}/3`, { prefix: 'mine:' });
    await stores.replicas?.share(['requests a'], FIGURES);
    stores.replicas?.knownTokens.add('key', Date.now() + 60_000);
    await using other = await openOnRedis(`${redis.url}/3`, { prefix: 'mine:' });
    expect(await stores.records.reserve(request('1', 'k'))).toMatchObject({ reserved: true });
    const kinds = ['mine:limit:', 'mine:known:', 'mine:{orders}:record:', 'mine:{orders}:marker'];
    const script = "redis.call('SELECT', 3) return redis.call('KEYS', '*')";
    const keys = (await redis.command('EVAL', script, 0)) as string[];
    expect(keys.filter((key) => !key.startsWith('mine:'))).toEqual([]);
    for (const kind of kinds) {
      expect(keys.filter((key) => key.startsWith(kind)).length, kind).toBeGreaterThan(0);
    }
    expect(await redis.command('DBSIZE')).toBe(0);
    expect(await connections()).toBeGreaterThan(before);
    await Promise.all([stores.records.close(), other.records.close()]);
    await eventually(async () => expect(await connections()).toBe(before));
  });

  test('need no other rights than the documented ones, and log that one is missing', async () => {
    await using redis = await startTestRedis(serverPath);
    const page = readFileSync('docs/order-records.md', 'utf8');
    const [, rights = ''] =
      /ACL SETUSER trading-graph on >a-long-password ([^`]+)/.exec(page) ?? [];
    const words = rights.replaceAll('\\', '').trim().split(/\s+/);
    await redis.command('ACL', 'SETUSER', 'few', 'on', '>secret', ...words);
    const url = redis.url.replace(/:[^/]+@/, 'few:secret@');
    await using stores = await openOnRedis(url, { maxPerAccount: 3 });
    const { records, replicas } = stores;
    const settled = await reserved(records, '1', 'k');
    await records.settle(settled, rejected);
    await records.settle(await reserved(records, '1', 'unknown', LONG_OVER_MS), unknown);
    await records.release(await reserved(records, '1', 'released'));
    await records.voidKey(keyFor('1', 'voided'));
    // The rejected order makes room.
    await reserved(records, '1', 'more');
    await records.cutOff();
    await replicas?.accountVersions.read(settled.account);
    await replicas?.share(['requests a'], FIGURES);
    replicas?.knownTokens.add('key', Date.now() + 60_000);
    expect(await replicas?.knownTokens.has('key')).toBe(true);
    replicas?.knownTokens.delete('key');
    const operator = await openOperator(url);
    await settleByHand(operator, keyFor('1', 'unknown'), booked);
    await operator.hold(true);
    await operator.declareIncomplete();
    for await (const _ of operator.list(null)) await operator.status();
    operator.close();
    await eventually(() => expect(records.status.holdReason).not.toBe(null));
    expect(stores.warnings.filter((line) => line.includes('refuses'))).toEqual([]);
    await redis.command('ACL', 'SETUSER', 'few', '-hgetall');
    await eventually(() => {
      expect(stores.warnings.join()).toMatch(/Redis refuses commands: .*can't run this command/);
    });
  });

  test('are not opened with a wrong or missing password', async () => {
    await using redis = await startTestRedis(serverPath);
    for (const credentials of ['', ':wrong@']) {
      const warnings: string[] = [];
      const url = redis.url.replace(/:[^/]+@/, credentials);
      const refused = openOnRedis(url, { onWarn: (message) => void warnings.push(message) });
      await expect(refused).rejects.toThrow(
        new StoreError('Redis refuses the user or the password'),
      );
      // The thrown error has the refusal, so nothing is logged.
      expect(warnings).toEqual([]);
    }
    await using stores = await openOnRedis(redis.url);
    expect(stores.warnings).toEqual([]);
  });

  test('never fall back to database 0 if Redis starts later and lacks the configured database', async () => {
    await using redis = await startTestRedis(serverPath);
    await redis.kill();
    await using stores = await openOnRedis(`${redis.url}/99`);
    await redis.start();
    await eventually(() => expect(stores.warnings.join()).toContain('DB index is out of range'));
    await stores.replicas?.share(['requests a'], FIGURES);
    await expect(stores.records.reserve(request('1', 'k'))).rejects.toThrow('cannot be reached');
    expect(await redis.command('DBSIZE')).toBe(0);
  });
});

test('a hanging Redis delays the start by one timeout, not by one for each connection', async () => {
  const events: string[] = [];
  await using redis = await startScriptedGateway(() => {}, {
    onConnection(socket) {
      events.push('connected');
      socket.once('close', () => events.push('given up'));
    },
  });
  const url = redis.url.replace('http:', 'redis:');
  const stores = await openOnRedis(url, { redisTimeoutMs: 1_000 });
  await stores.records.close();
  await eventually(() => expect(events).toContain('given up'));
  // Both connections are open before the first timeout ends.
  expect(events.slice(0, 3)).toEqual(['connected', 'connected', 'given up']);
});
