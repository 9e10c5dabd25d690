import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { describeWithHaproxy } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { startReplicas } from '../../support/replicas.ts';
import { startedOnce } from '../../support/started.ts';
import { Crowd, type CrowdOptions } from './crowd.ts';

const ACCOUNTS = inFull(50, 24);
const SOCKETS_PER_ACCOUNT = 6;
const SOCKETS = ACCOUNTS * SOCKETS_PER_ACCOUNT;

describeWithHaproxy('sockets on three replicas', (haproxyPath) => {
  const sandbox = startedOnce(() => startSandbox({ seed: 'scale', instruments: 40, tickMs: 200 }));
  const replicas = startedOnce(() =>
    startReplicas(haproxyPath, {
      GATEWAY_URL: sandbox.url,
      ORDER_STORE: 'memory',
      RATE_LIMIT_PER_MINUTE: '1000000',
    }),
  );

  const crowd = (socketsPerAccount: number, changed: Partial<CrowdOptions> = {}) => {
    const url = `${replicas.url}/graphql`;
    return Crowd.open({ url, sandbox, accounts: ACCOUNTS, socketsPerAccount, ...changed });
  };
  const allLeft = () => eventually(async () => expect(await replicas.feeds()).toBe(0));

  test('that name their account cost one poll per account, also after a replica has died and returned', async () => {
    using viewers = await crowd(SOCKETS_PER_ACCOUNT);
    expect(await replicas.sockets()).toSatisfy((each: number[]) => each.every((n) => n > 0));
    expect(await replicas.feeds()).toBe(ACCOUNTS);
    const [victim] = replicas.all;
    await victim?.kill();
    await eventually(() => viewers.viewers.some(({ state }) => state?.status === 'OFFLINE'));
    await viewers.allLive();
    expect(await replicas.feeds()).toBe(ACCOUNTS);

    await victim?.start();
    await eventually(async () => {
      using probe = await crowd(1);
      expect(probe.viewers).toHaveLength(ACCOUNTS);
      // Until the old sockets reconnect, the accounts of the returned replica are polled twice.
      const remapped = (await replicas.sockets())[0] ?? 0;
      expect(remapped).toBeGreaterThan(ACCOUNTS / 8);
      expect(await replicas.feeds()).toBe(ACCOUNTS + remapped);
    });
    viewers[Symbol.dispose]();
    await allLeft();
    using again = await crowd(SOCKETS_PER_ACCOUNT);
    expect(again.viewers).toHaveLength(SOCKETS);
    expect(await replicas.feeds()).toBe(ACCOUNTS);
  });

  test('with the same hint do not give a replica more than one and a half times its share', async () => {
    await allLeft();
    const url = `${replicas.url}/graphql?route=abcd`;
    using viewers = await crowd(SOCKETS_PER_ACCOUNT, { url, route: false });
    expect(viewers.viewers).toHaveLength(SOCKETS);
    const sockets = await replicas.sockets();
    expect(Math.max(...sockets)).toBeLessThanOrEqual((1.5 * SOCKETS) / replicas.all.length);
  });

  test('and requests of an account reach one replica, by the hint or by the token alone', async () => {
    const calls = sandbox.calls('getSession');
    const answers = Array.from({ length: 24 }, async (_, n) => {
      const token = sandbox.token({ email: `user-${n + 1}@example.com` });
      const login = String(JSON.parse(atob(token.split('.')[1] ?? '')).login);
      const hint = createHash('sha256').update(login).digest('hex').slice(0, 4);
      for (const query of ['', `?route=${hint}`, '', `?route=${hint}`, '?route=none', '']) {
        const response = await fetch(`${replicas.url}/graphql${query}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          body: '{"query":"{ session { login } }"}',
        });
        expect(await response.json()).toMatchObject({ data: { session: { login } } });
      }
    });
    await Promise.all(answers);
    // Each token's snapshot is in the memory of one replica.
    expect(sandbox.calls('getSession') - calls).toBe(24);
  });
});
