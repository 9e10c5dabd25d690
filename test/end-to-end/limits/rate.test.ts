import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { DEFAULT_LIMITS } from '../../support/limits.ts';
import { forgedToken } from '../../support/tokens.ts';
import { CHANGES, sseClient, webSocketClient } from '../live/watcher.ts';
import { codesOf, TRANSPORTS } from './every-transport.ts';

const HOME =
  '{ session { login balance } positions { id } withdrawalMethods { id } customerId instrument(id: "AAPL") { id } }';
const CROWD = inFull(10_000, 180);
const TYPENAME = { query: '{ __typename }' };
const DEMO = { email: 'demo@example.com' };

function remaining(headers: Headers): number {
  return Number(/"default";r=(\d+);t=\d+/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

/** What is used stays used, however long the test takes. */
const startStill = (environment: Readonly<Record<string, string>>) =>
  startTestApp(environment, { refills: false });

describe('operations of an address', () => {
  test.each(TRANSPORTS)('are counted by %s', async (_transport, ask) => {
    await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '3' });
    for (let at = 0; at < 3; at += 1) {
      expect((await ask(app, TYPENAME)).data).toEqual({ __typename: 'Query' });
    }
    const { data, errors } = await ask(app, TYPENAME);
    expect(data).toBeUndefined();
    const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfter: expect.any(Number) };
    expect(errors).toEqual([{ message: expect.any(String), extensions }]);
    expect(errors?.[0]?.extensions.retryAfter).toBeLessThanOrEqual(60);
  });

  test('are answered with the remaining quota, and refused with Retry-After', async () => {
    await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '2' });
    const { headers } = await app.query('{ __typename }');
    expect(headers.get('ratelimit')).toMatch(/^"default";r=1;t=\d+$/);
    expect(headers.get('ratelimit-policy')).toBe('"default";q=2;w=60');
    expect(headers.has('retry-after')).toBe(false);
    await app.query('{ __typename }');
    const refused = await app.query('{ __typename }');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('ratelimit')).toMatch(/^"default";r=0;t=\d+$/);
    // One comes back in half a minute.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(30);
  });
});

describe('a proved account', () => {
  test('has a limit of its own, whatever its address has used up', async () => {
    await using app = await startStill({ RATE_LIMIT_PER_MINUTE: '10' });
    const token = app.sandbox.token(DEMO);
    await app.query('{ session { login } }', { token });
    for (let at = 0; at < 10; at += 1) {
      expect((await app.query('{ __typename }')).status).toBe(200);
    }
    expect((await app.query('{ __typename }')).status).toBe(429);
    // The operation that proved it is its own as well.
    for (let at = 0; at < 4; at += 1) {
      expect((await app.query('{ __typename }', { token })).status).toBe(200);
    }
    expect((await app.query('{ __typename }', { token })).status).toBe(429);
  });

  test('counts a subscription once, when it starts', async () => {
    const limits = { RATE_LIMIT_PER_MINUTE: '100', POSITIONS_POLL_MS: '100' };
    await using app = await startStill(limits);
    const token = app.sandbox.token(DEMO);
    await app.query('{ session { login } }', { token });
    await using client = webSocketClient(app, token);
    const watcher = client.watch();
    for (const events of [1, 2, 3]) {
      await eventually(() => watcher.events.length >= events);
      app.sandbox.tick();
    }
    expect(remaining((await app.query('{ __typename }', { token })).headers)).toBe(47);
  });
});

describe('a token that the gateway accepts, and whose login is not proved,', () => {
  test('counts for its address, until op 10 has answered it', async () => {
    await using app = await startStill({ RATE_LIMIT_PER_MINUTE: '5' });
    const token = app.sandbox.token(DEMO);
    const ask = async (query: string) => remaining((await app.query(query, { token })).headers);
    expect(await ask('{ customerId }')).toBe(4);
    expect(remaining((await app.query('{ __typename }')).headers)).toBe(3);
    expect(await ask('{ session { login } }')).toBe(2);
    // Two are what one token has of five, and the one that proved it is its own.
    expect(await ask('{ customerId }')).toBe(0);
    expect(remaining((await app.query('{ __typename }')).headers)).toBe(2);
    expect(app.sandbox.calls('getSession')).toBe(1);
  });

  test('counts for its address again once the gateway refuses it', async () => {
    await using app = await startStill({ RATE_LIMIT_PER_MINUTE: '10' });
    const token = app.sandbox.token({ email: 'pro@example.com' });
    const ask = async (query: string) => remaining((await app.query(query, { token })).headers);
    await ask('{ session { login } }');
    expect(await ask('{ customerId }')).toBe(3);
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'revoke', times: 1 });
    await ask('{ customerId }');
    expect(await ask('{ __typename }')).toBe(9);
  });
});

test('thousands of tokens that the gateway refuses reach neither the gateway nor the limits of the login they name', async () => {
  const limits = { RATE_LIMIT_PER_MINUTE: '1000000', LOG_LEVEL: 'error' };
  await using app = await startStill({ ...limits, POSITIONS_POLL_MS: '100' });
  const token = app.sandbox.token(DEMO);
  await using client = webSocketClient(app, token);
  const watcher = client.watch();
  await eventually(() => watcher.events.length === 1);
  const quota = remaining((await app.query('{ __typename }', { token })).headers);
  app.sandbox.clearCalls();

  const answers = await inParallel(inFull(10_000, 1_000), 40, (at) =>
    app.query('{ session { login } }', { token: forgedToken(at) }),
  );
  expect(new Set(answers.flatMap(codesOf))).toEqual(new Set(['UNAUTHENTICATED', 'RATE_LIMITED']));
  // Forty are asked for at a time.
  expect(app.sandbox.calls('getSession')).toBeLessThan(120 + 40);

  const before = watcher.events.length;
  app.sandbox.tick();
  await eventually(() => watcher.events.length > before);
  expect(watcher.events.every(({ status }) => status === 'LIVE')).toBe(true);
  expect(watcher.ended).toBeNull();
  const own = await app.query('{ session(maxAge: 0) { login } positions { id } }', { token });
  expect(own.errors).toEqual([]);
  expect(remaining(own.headers)).toBe(quota - 1);
});

test.each(TRANSPORTS.filter(([transport]) => transport !== 'GET'))(
  'sign-ins of one e-mail are counted by %s',
  async (_transport, ask) => {
    await using app = await startStill({ LOGIN_LIMIT_PER_MINUTE: '1' });
    const login = (email: string) =>
      `mutation { login(input: { email: "${email}", password: "no" }) { __typename } }`;
    expect(codesOf(await ask(app, { query: login('demo@example.com') }))).toEqual([]);
    const { errors } = await ask(app, { query: login('Demo@Example.COM') });
    expect(errors).toMatchObject([
      {
        path: ['login'],
        extensions: { code: 'RATE_LIMITED', retryable: true, retryAfter: expect.any(Number) },
      },
    ]);
    expect(app.sandbox.calls('login')).toBe(1);
    expect(codesOf(await ask(app, { query: login('pro@example.com') }))).toEqual([]);
  },
);

test('subscriptions are refused like queries', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1' });
  const token = app.sandbox.token(DEMO);
  await app.query('{ __typename }');
  for (const [transport, ask] of TRANSPORTS) {
    if (transport === 'POST' || transport === 'GET') continue;
    expect(codesOf(await ask(app, { query: CHANGES }, token))).toEqual(['RATE_LIMITED']);
  }
  expect(app.sandbox.calls()).toBe(0);
});

test('people behind one address, none of whom is known after a restart, all get their screens, more of them than an address may start operations or try tokens', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: inFull('300', '100') });
  app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 30 });
  const answers = await inParallel(CROWD, 200, (at) =>
    app.query(HOME, { token: app.sandbox.token({ email: `user-${at + 1}@example.com` }) }),
  );
  expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  expect(new Set(answers.map(({ data }) => data.session.login)).size).toBe(CROWD);
}, 300_000);

test('one account that subscribes by many unproved ways has no more than its limit', async () => {
  const most = 32;
  const subscriptions = { ...DEFAULT_LIMITS.subscriptions, most: { account: most, address: most } };
  await using app = await startTestApp({}, { limits: { subscriptions } });
  const subscribe = async () => {
    const client = sseClient(app, app.sandbox.token(DEMO));
    const watcher = client.watch();
    await eventually(() => watcher.last !== undefined || watcher.ended !== null);
    return { client, watcher };
  };
  const begun = await inParallel(most + 8, 40, subscribe);
  const refused = begun.filter(({ watcher }) => watcher.last === undefined);
  expect(begun.length - refused.length).toBe(most);
  for (const { watcher } of refused) expect(codesOf(watcher)).toEqual(['RATE_LIMITED']);
  for (const { client } of begun) client.dispose();
  // What was refused holds nothing, and what has ended gives its slot back.
  await eventually(async () => {
    const { client, watcher } = await subscribe();
    client.dispose();
    return watcher.last !== undefined;
  });
}, 300_000);

test('an account that is at its limit takes what it does by new tokens from its address', async () => {
  await using app = await startStill({ RATE_LIMIT_PER_MINUTE: '5' });
  const statuses = [];
  for (let at = 0; at < 11; at += 1) {
    const { status } = await app.query('{ session { login } }', { token: app.sandbox.token(DEMO) });
    statuses.push(status);
  }
  // Five of the account's, and then five of the address's.
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
});
