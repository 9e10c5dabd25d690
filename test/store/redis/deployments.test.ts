import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { OrderClient } from '../../end-to-end/orders/order-client.ts';
import { buying } from '../../end-to-end/orders/order-request.ts';
import { accountNamed } from '../../support/accounts.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startFacadeProcess } from '../../support/facade-process.ts';
import { freePort } from '../../support/free-ports.ts';
import { REDIS_PASSWORD, startTestRedis } from '../../support/redis.ts';
import { SENTINEL_PASSWORD, startWatchedRedis } from '../../support/sentinel.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request, reserved } from '../order-records-contract.ts';
import { openOnRedis } from '../stores-on-redis.ts';
import { voidRequest } from '../void-contract.ts';

/** A Sentinel that was held up for two seconds promotes nothing for the next thirty. */
const TILT = { withinMs: 120_000 };
const FIGURES = [5, 5 / 60_000, 1];

/** The rule as the page for operators has it. */
function documentedRule(): string[] {
  const page = readFileSync(new URL('../../../docs/order-records.md', import.meta.url), 'utf8');
  const [, rule = ''] = /^ACL SETUSER trading-graph ([\s\S]*?)^```/m.exec(page) ?? [];
  return rule.replaceAll('\\\n', ' ').trim().split(/\s+/);
}

describeWithRedis('the stores on a Redis', (serverPath) => {
  test.concurrent('of a user with the documented rights work, and another prefix is refused', async () => {
    await using redis = await startTestRedis(serverPath);
    const rule = documentedRule().map((word) => word.replace('>a-long-password', '>pw'));
    expect(rule).toContain('>pw');
    await redis.command('ACL', 'SETUSER', 'trading-graph', ...rule);
    const url = redis.url.replace(/\/\/.*@/, '//trading-graph:pw@');
    await using stores = await openOnRedis(url);
    const kept = await reserved(stores.records, '1', 'kept');
    await stores.records.settle(kept, accepted);
    await stores.records.release(await reserved(stores.records, '1', 'released'));
    expect(await stores.records.find(accountNamed('1'), 'kept')).toMatchObject({
      outcome: accepted,
    });
    expect(await stores.records.find(accountNamed('1'), 'released')).toBe(null);
    expect(await stores.records.voidKey(voidRequest('1', 'closed'))).toMatchObject({
      voided: true,
    });
    await stores.replicas?.share(['requests a'], FIGURES);
    const known = stores.keys?.('token');
    known?.add('key', Date.now() + 60_000);
    expect(await known?.has('key')).toBe(true);
    known?.delete('key', true);
    // Another replica, the loss of everything, and a replica that leaves.
    const other = await openOnRedis(url);
    await redis.command('FLUSHALL');
    expect(await other.records.reserve(request('1', 'kept'))).toMatchObject({ reserved: false });
    await other.close();
    await eventually(() => expect(stores.records.degradedReason()).toBe(null));
    expect(stores.replicas?.degradedReason()).toBe(null);
    expect(await redis.command('ACL', 'LOG')).toEqual([]);

    await using stranger = await openOnRedis(url, { prefix: 'other:' });
    await expect(stranger.records.reserve(request('1', 'k'))).rejects.toThrow('NOPERM');
    await eventually(() => stranger.records.degradedReason()?.includes('NOPERM') === true);
  });

  test.concurrent('with TLS work where its certificate is trusted, and not where it is not', async () => {
    await using files = await makeCertificate();
    const port = await freePort();
    const args = ['--tls-port', String(port), '--tls-auth-clients', 'no'];
    args.push('--tls-cert-file', files.certificate, '--tls-key-file', files.key);
    await using _redis = await startTestRedis(serverPath, { args });
    const url = `rediss://:${REDIS_PASSWORD}@127.0.0.1:${port}`;
    await using sandbox = await startSandbox({ instruments: 40, tickMs: 0 });
    await using facade = await startFacadeProcess({
      GATEWAY_URL: sandbox.url,
      REDIS_URL: url,
      NODE_EXTRA_CA_CERTS: files.certificate,
    });
    const client = new OrderClient(facade, sandbox.token({ email: 'user-1@example.com' }));
    const reply = await client.place(buying('k'));
    expect(reply).toMatchObject({ type: 'OrderAccepted' });
    await using stores = await openOnRedis(url);
    expect(stores.warnings.join()).toContain('self-signed');
    await expect(stores.records.reserve(request('1', 'k'))).rejects.toThrow('cannot be reached');
  });

  test.concurrent('that Sentinel fails over go on with the new primary, and what it lacks is written back', async () => {
    await using watched = await startWatchedRedis(serverPath);
    const address = (name: string) =>
      `redis-sentinel://:${REDIS_PASSWORD}@${watched.address}/${name}/2?sentinelPassword=${SENTINEL_PASSWORD}`;
    // The Sentinels are asked again until then.
    const nobody = openOnRedis(address('nobody'), { redisTimeoutMs: 5_000 });
    await expect(nobody).rejects.toThrow('know no primary of this name');
    // What it lacks is there only where nobody waits for its replicas.
    await using one = await openOnRedis(address('orders'), { redisReplicas: 0 });
    await using other = await openOnRedis(address('orders'), { redisReplicas: 0 });
    await one.records.settle(await reserved(one.records, '1', 'early'), accepted);
    await watched.replica.command('REPLICAOF', '127.0.0.1', '1');
    await one.records.settle(await reserved(one.records, '1', 'late'), accepted);
    await watched.primary.kill();
    for (const key of ['early', 'late']) {
      const repeat = await eventually(() => other.records.reserve(request('1', key)), TILT);
      expect(repeat).toMatchObject({ reserved: false, record: { outcome: accepted } });
    }
    await reserved(other.records, '1', 'new');
    const replication = await watched.replica.command('INFO', 'replication');
    expect(replication).toContain('role:master');
  }, 180_000);

  test.concurrent('that refuses writes since another one is the primary are at that one next', async () => {
    await using one = await startTestRedis(serverPath);
    await using other = await startTestRedis(serverPath);
    await using board = await startSwitchboard(one.url);
    await using stores = await openOnRedis(`redis://:${REDIS_PASSWORD}@${board.address}`);
    await eventually(() => reserved(stores.records, '1', 'before'));
    for (const [old, promoted, key] of [
      [one, other, 'there'],
      [other, one, 'and back'],
    ] as const) {
      board.to(promoted.url);
      await promoted.command('REPLICAOF', 'NO', 'ONE');
      // No connection breaks with it.
      await old.command('REPLICAOF', '127.0.0.1', new URL(promoted.url).port);
      await stores.replicas?.share(['requests a'], FIGURES);
      await eventually(() => reserved(stores.records, '1', key));
      expect(await promoted.command('EXISTS', `trading-graph:{orders}:record:1:${key}`)).toBe(1);
    }
  });

  test.concurrent('Cluster are not opened', async () => {
    await using redis = await startTestRedis(serverPath, {
      args: ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())],
    });
    await expect(openOnRedis(redis.url)).rejects.toThrow('Redis Cluster, which is not supported');
  });
});
