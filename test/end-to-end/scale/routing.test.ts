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

  const openCrowd = (socketsPerAccount: number, changed: Partial<CrowdOptions> = {}) => {
    const url = `${replicas.url}/graphql`;
    return Crowd.open({ url, sandbox, accounts: ACCOUNTS, socketsPerAccount, ...changed });
  };
  const untilAllHaveLeft = () => eventually(async () => expect(await replicas.feeds()).toBe(0));

  test('that name their account have one feed per account, even after a replica has died and returned', async () => {
    using crowd = await openCrowd(SOCKETS_PER_ACCOUNT);
    expect(Math.min(...(await replicas.sockets()))).toBeGreaterThan(0);
    expect(await replicas.feeds()).toBe(ACCOUNTS);
    const [replica] = replicas.all;
    await replica?.kill();
    await eventually(() => crowd.viewers.some(({ state }) => state?.status === 'OFFLINE'));
    await crowd.allLive();
    expect(await replicas.feeds()).toBe(ACCOUNTS);

    await replica?.start();
    await eventually(async () => {
      using newSockets = await openCrowd(1);
      expect(newSockets.viewers).toHaveLength(ACCOUNTS);
      // Until the old sockets reconnect, the accounts of the returned replica have two feeds.
      const returned = (await replicas.sockets())[0] ?? 0;
      // About a third of the accounts belongs to this replica, and much less would mean that it is not used again.
      expect(returned).toBeGreaterThan(ACCOUNTS / 8);
      expect(await replicas.feeds()).toBe(ACCOUNTS + returned);
    });
    crowd[Symbol.dispose]();
    await untilAllHaveLeft();
    using again = await openCrowd(SOCKETS_PER_ACCOUNT);
    expect(again.viewers).toHaveLength(SOCKETS);
    expect(await replicas.feeds()).toBe(ACCOUNTS);
  });

  test('with the same hint are spread over the replicas', async () => {
    await untilAllHaveLeft();
    const url = `${replicas.url}/graphql?route=abcd`;
    using crowd = await openCrowd(SOCKETS_PER_ACCOUNT, { url, route: false });
    expect(crowd.viewers).toHaveLength(SOCKETS);
    const sockets = await replicas.sockets();
    // No replica has more than one and a half times its share.
    expect(Math.max(...sockets)).toBeLessThanOrEqual((1.5 * SOCKETS) / replicas.all.length);
  });

  test('and requests of one account reach one replica, by the hint or by the token alone', async () => {
    const callsBefore = sandbox.calls('getSession');
    const answers = Array.from({ length: 24 }, async (_, index) => {
      const token = sandbox.token({ email: `user-${index + 1}@example.com` });
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
    // One call for each token shows that one replica has answered all its requests, because it caches the session.
    expect(sandbox.calls('getSession') - callsBefore).toBe(24);
  });
});
