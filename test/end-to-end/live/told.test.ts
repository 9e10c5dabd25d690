import { expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startTestRedis } from '../../support/redis.ts';
import { seriesValue } from '../operations/scraped.ts';
import { closedClients } from './closed-clients.ts';
import { ACCOUNT, CHANGES, type Watcher, webSocketClient } from './watcher.ts';

const DEMO = { email: 'demo@example.com' };
const PRO = { email: 'pro@example.com' };
/** Nothing is read but what somebody begins to follow, and what is told. */
const SELDOM = {
  POSITIONS_POLL_MS: '3600000',
  POSITIONS_POLL_MAX_MS: '3600000',
  SESSION_POLL_MS: '3600000',
  SESSION_MAX_AGE_SECONDS: '3600',
};
const CATALOG = '{ catalog { version stale } }';
const SESSION = '{ session { balance } }';
const opened = closedClients();

const tell = (
  app: Pick<TestApp, 'adminUrl'>,
  body: unknown,
  headers: Record<string, string> = {},
) =>
  fetch(`${app.adminUrl}/changed`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

async function following(app: TestApp, user: { readonly email: string }, document = CHANGES) {
  const watcher = opened(webSocketClient(app, app.sandbox.token(user))).watch({}, document);
  await eventually(() => expect(watcher.last?.status).toBe('LIVE'), watcher.whileOpen);
  return watcher;
}

const profits = ({ list }: Watcher) => JSON.stringify(list.map(({ profit }) => profit));
async function moves(app: TestApp, watcher: Watcher, how: () => Promise<unknown>) {
  const before = profits(watcher);
  app.sandbox.tick(5);
  expect(profits(watcher)).toBe(before);
  await how();
  await eventually(() => expect(profits(watcher)).not.toBe(before), watcher.whileOpen);
}

test('an account that is told has its list and its snapshot read now, and nobody else has', async () => {
  await using app = await startTestApp(SELDOM);
  const [demo, pro] = [await following(app, DEMO, ACCOUNT), await following(app, PRO)];
  const tokens = [app.sandbox.token(DEMO), app.sandbox.token(PRO)];
  const read = () => Promise.all(tokens.map((token) => app.query(SESSION, { token })));
  const count = (login: number) =>
    (['getSession', 'getOpenPositions'] as const).map((name) => app.sandbox.calls(name, login));
  await read();
  await read();
  const [before, others] = [count(700001), count(700002)];
  const { fetchedAt } = demo.accountEvents.at(-1)?.session ?? {};
  await moves(app, demo, async () => {
    expect((await tell(app, { logins: ['700001', 799_999] })).status).toBe(202);
  });
  // The snapshot of those who follow it is a new one too.
  await eventually(() => expect(demo.accountEvents.at(-1)?.session?.fetchedAt).not.toBe(fetchedAt));
  await read();
  expect(count(700001).map((now, at) => now - (before[at] ?? 0))).toEqual([2, 1]);
  expect(count(700002)).toEqual(others);
  const catalogs = () =>
    Promise.all(tokens.map(async (token) => (await app.query(CATALOG, { token })).data.catalog));
  const fresh = await catalogs();
  await moves(app, pro, () => tell(app, { group: 'pro-usd' }));
  const told = await catalogs();
  expect([...fresh, ...told].map(({ stale }) => stale)).toEqual([false, false, false, true]);
  await read();
  expect(count(700002).map((now, at) => now - (others[at] ?? 0))).toEqual([1, 1]);
  await moves(app, demo, () => tell(app, { list: 'positions' }));
});

test('with headers of GATEWAY_FORWARD_HEADERS an account is one of that tenant', async () => {
  await using app = await startTestApp({ ...SELDOM, GATEWAY_FORWARD_HEADERS: 'x-tenant' });
  const token = app.sandbox.token(DEMO);
  const calls = async (tenant: string) => {
    const before = app.sandbox.calls('getSession');
    await app.query(SESSION, { token, headers: { 'x-tenant': tenant } });
    return app.sandbox.calls('getSession') - before;
  };
  expect([await calls('a'), await calls('b'), await calls('a')]).toEqual([1, 1, 0]);
  await tell(app, { logins: ['700001'] });
  expect([await calls('a'), await calls('b')]).toEqual([0, 0]);
  await tell(app, { logins: ['700001'], headers: { 'X-Tenant': 'a' } });
  expect([await calls('a'), await calls('b')]).toEqual([1, 0]);
});

test.each<[string, Omit<Fault, 'operation'>]>([
  ['429s', { kind: 'status', status: 429 }],
  ['garbage', { kind: 'garbage' }],
])(
  'a gateway that is back after %s, where no breaker opened, is noticed by the answer to anybody, but not within a Retry-After',
  async (_, fault) => {
    await using app = await startTestApp(SELDOM);
    const operation = 'getOpenPositions';
    const asking = { kind: 'status', status: 429, headers: { 'retry-after': '3600' } } as const;
    app.sandbox.fail({ operation, ...asking, login: 700_002 });
    app.sandbox.fail({ operation, ...fault });
    const [demo, pro] = [DEMO, PRO].map((user) =>
      opened(webSocketClient(app, app.sandbox.token(user))).watch(),
    );
    const failed = () => seriesValue(app, 'feed_polls_total{list="positions",outcome="failed"}');
    await eventually(async () => expect(await failed()).toBe(2), pro?.whileOpen);
    app.sandbox.clearFaults();
    const before = app.sandbox.calls(operation, 700_002);
    const token = app.sandbox.token({ email: 'fresh@example.com' });
    await app.query('{ positions { id } }', { token });
    await eventually(() => expect(demo?.last?.status).toBe('LIVE'), demo?.whileOpen);
    expect(app.sandbox.calls(operation, 700_002)).toBe(before);
  },
);

test('what is no change is refused with words, what comes too often with 429, and the public port knows nothing of it', async () => {
  await using app = await startTestApp();
  const { status } = await fetch(`${app.url}/changed`, { method: 'POST', body: '{}' });
  expect(status).toBe(404);
  const refusals: readonly [number, unknown, Record<string, string>?][] = [
    [415, { logins: ['700001'] }, { 'content-type': 'text/plain' }],
    [400, '{'],
    [400, []],
    [400, {}],
    [400, { logins: ['700001'], group: 'pro-usd' }],
    [400, { logins: [] }],
    [400, { logins: Array(1_001).fill('700001') }],
    [400, { logins: ['../1'] }],
    [400, { logins: ['700001'], headers: { 'x-tenant': 'a' } }],
    [400, { group: '' }],
    [400, { list: 'positions', headers: {} }],
    [202, { logins: Array(1_000).fill('700001') }],
    [413, { logins: ['700001'], more: 'x'.repeat(70_000) }],
  ];
  for (const [wanted, body, headers] of refusals) {
    const answer = await tell(app, body, headers);
    expect([answer.status, body]).toEqual([wanted, body]);
    expect((await answer.json()).error ?? 'none').toMatch(/\w/);
  }
  expect((await fetch(`${app.adminUrl}/changed`)).status).toBe(405);
  const many = await Promise.all(Array.from({ length: 200 }, () => tell(app, { group: 'a' })));
  const late = many.filter((answer) => answer.status === 429);
  expect(late.length).toBeGreaterThan(0);
  expect(late[0]?.headers.get('retry-after')).toBe('1');
  expect((await fetch(`${app.adminUrl}/health/live`)).status).toBe(200);
});

describeWithRedis('replicas that share a Redis', (serverPath) => {
  test('hear what one of them is told, and one that cannot tell them says so', async () => {
    await using redis = await startTestRedis(serverPath);
    await using sandbox = await startSandbox({ seed: 'tests', tickMs: 86_400_000 });
    const environment = { ...SELDOM, REDIS_URL: redis.url };
    await using one = await startTestApp(environment, { gateway: sandbox });
    await using other = await startTestApp(environment, { gateway: sandbox });
    const watcher = await following(other, DEMO);
    for (const body of [{ logins: ['700001'] }, { group: 'standard-usd' }]) {
      await moves(other, watcher, () => tell(one, body));
    }
    // One that another version tells is not understood, and what comes with it is heard.
    await moves(other, watcher, () => {
      const noticeOf = (notice: object) => JSON.stringify({ from: 'another', notice });
      const heard = noticeOf({ kind: 'accounts', accounts: ['700001'] });
      const score = Date.now() + 60_000;
      const foreign = [score, noticeOf({ kind: 'of tomorrow' })];
      return redis.command('ZADD', 'trading-graph:notices', ...foreign, score + 1, heard);
    });
    await redis.kill();
    expect((await tell(one, { logins: ['700001'] })).status).toBe(503);
  });
});
