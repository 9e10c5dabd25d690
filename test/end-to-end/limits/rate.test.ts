import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inFull } from '../../support/in-full.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { limited, withoutRefills } from '../../support/limits.ts';
import { keyOf } from '../../support/order-keys.ts';
import { startTestRedis } from '../../support/redis.ts';
import { forgedToken } from '../../support/tokens.ts';
import { CHANGES } from '../live/watcher.ts';
import { provedToken } from '../operations/accounts.ts';
import { codesOf, TRANSPORTS } from './every-transport.ts';

const HOME =
  '{ session { login balance } positions { id } withdrawalMethods { id } customerId instrument(id: "AAPL") { id } }';
const USERS = inFull(10_000, 180);
/** How many unproved tokens an address may try. */
const PROOFS = 40;
const FEW_PROOFS = { limits: withoutRefills(limited('proofs', PROOFS)) };
const TYPENAME = { query: '{ __typename }' };
const DEMO = { email: 'demo@example.com' };

/** The remaining operations of the minute, from the answer's headers. */
function remaining(headers: Headers): number {
  return Number(/"default";r=(\d+);t=\d+/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

/** Starts a service whose limits are not refilled while the test runs. */
const startWithoutRefills = (environment: Readonly<Record<string, string>>) =>
  startTestApp(environment, { refills: false });

describe('operations of an address', () => {
  test.each(TRANSPORTS)('are counted by %s, including subscriptions', async (transport, ask) => {
    await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '3' });
    for (let operation = 0; operation < 3; operation += 1) {
      expect((await ask(app, TYPENAME)).data).toEqual({ __typename: 'Query' });
    }
    const { data, errors } = await ask(app, TYPENAME);
    expect(data).toBeUndefined();
    const extensions = { code: 'RATE_LIMITED', retryable: true, retryAfter: expect.any(Number) };
    expect(errors).toEqual([{ message: expect.any(String), extensions }]);
    expect(errors?.[0]?.extensions.retryAfter).toBeLessThanOrEqual(60);
    if (transport === 'POST' || transport === 'GET') return;
    const subscribed = await ask(app, { query: CHANGES }, app.sandbox.token(DEMO));
    expect(codesOf(subscribed)).toEqual(['RATE_LIMITED']);
    expect(app.sandbox.calls()).toBe(0);
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
    // With a limit of two, an operation is refilled in half a minute.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(30);
  });
});

test('a new document counts as one more operation for each 200 tokens, and a known one does not', async () => {
  await using app = await startWithoutRefills({ RATE_LIMIT_PER_MINUTE: '50' });
  const asked = async (document: string) => {
    const before = remaining((await app.query('{ __typename }')).headers);
    await app.query(document);
    return before - remaining((await app.query('{ __typename }')).headers) - 1;
  };
  const large = `{ ${'__typename '.repeat(1_998)} }`;
  expect(await asked('{ a: __typename }')).toBe(1);
  expect(await asked(large)).toBe(1 + 10);
  expect(await asked(large)).toBe(1);
  // A document that is refused took as long to read.
  expect(await asked(`{ ${'none '.repeat(998)} }`)).toBe(1 + 5);
});

test('operations are charged to the address until op 10 proves the token’s login, and again after the token is refused', async () => {
  await using app = await startWithoutRefills({ RATE_LIMIT_PER_MINUTE: '5' });
  const token = app.sandbox.token(DEMO);
  const ask = async (query: string) => remaining((await app.query(query, { token })).headers);
  expect(await ask('{ customerId }')).toBe(4);
  expect(remaining((await app.query('{ __typename }')).headers)).toBe(3);
  expect(await ask('{ session { login } }')).toBe(2);
  // The proof has moved the charge of the last operation from the address, which has three left, to the account.
  app.sandbox.revoke({ token });
  // The account pays this operation too, which reveals that the token is revoked.
  expect(await ask('{ customerId }')).toBe(3);
  // The address pays again.
  expect(await ask('{ __typename }')).toBe(2);
  expect(app.sandbox.calls('getSession')).toBe(1);
});

test('after a restart all users behind one address are answered, even if there are more users than proofs', async () => {
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: inFull('300', '100') });
  app.sandbox.fail({ operation: 'getSession', kind: 'delay', delayMs: 30 });
  const answers = await inParallel(USERS, 40, (index) =>
    app.query(HOME, { token: app.sandbox.token({ email: `user-${index + 1}@example.com` }) }),
  );
  expect(answers.flatMap(({ errors }) => errors)).toEqual([]);
  expect(new Set(answers.map(({ data }) => data.session.login)).size).toBe(USERS);
}, 300_000);

let keys = 0;

/** An order's outcome: its type, or the code of its error. */
async function sell(app: TestApp, token: string): Promise<string> {
  keys += 1;
  const { data, errors } = await app.query(
    `mutation { placeOrder(input: {
      symbol: "AAPL", side: SELL, kind: MARKET, size: { amount: 20 }, idempotencyKey: "${keyOf(`innocent ${keys}`)}"
    }) { __typename } }`,
    { token },
  );
  return data?.placeOrder?.__typename ?? errors[0]?.extensions.code;
}

/** Sends more tokens than an address may try. */
const floodTokens = (app: TestApp) =>
  inParallel(PROOFS + 20, 20, (index) =>
    app.query('{ session { login } }', { token: forgedToken(index) }),
  );

describeWithRedis('on another replica', (serverPath) => {
  test('a token that the first replica accepted or issued is known until it is refused', async () => {
    await using redis = await startTestRedis(serverPath);
    await using gateway = await startSandbox({ instruments: 40, tickMs: 0 });
    const environment = { REDIS_URL: redis.url };
    await using one = await startTestApp(environment, { gateway });
    await using other = await startTestApp(environment, { gateway, ...FEW_PROOFS });
    const accepted = gateway.token(DEMO);
    const issued = await one.signIn();
    const revoked = gateway.token(DEMO);
    for (const token of [accepted, revoked]) {
      expect((await one.query('{ session { login } }', { token })).errors).toEqual([]);
    }
    gateway.revoke({ token: revoked });
    await one.query('{ session(maxAge: 0) { login } }', { token: revoked });
    // From now on the address may send only known tokens.
    await floodTokens(other);
    expect(await sell(other, accepted)).toBe('OrderAccepted');
    expect(await sell(other, issued)).toBe('OrderAccepted');
    expect(await sell(other, revoked)).toBe('RATE_LIMITED');
  });
});

test('hanging sign-ins leave connections for payments', async () => {
  // A quarter of the connections is for calls that are neither reads nor orders.
  await using app = await startTestApp({
    TRUSTED_PROXIES: '127.0.0.1',
    GATEWAY_CONNECTIONS: '16',
    GATEWAY_TIMEOUT_MS: '10000',
  });
  const token = await provedToken(app);
  app.sandbox.fail({ operation: 'login', kind: 'delay', delayMs: 600_000 });
  const hanging = Array.from({ length: 20 }, (_, index) =>
    app.query(
      `mutation { login(input: { email: "${index}@example.com", password: "demo" }) { __typename } }`,
      { headers: { 'x-forwarded-for': `2001:db8:1:${index}::1` } },
    ),
  );
  await eventually(() => app.sandbox.calls('login') > 0);
  const payments = Array.from({ length: 10 }, () =>
    app.query('{ withdrawalMethods { id } customerId }', { token }),
  );
  for (const answer of await Promise.all(payments)) expect(answer.errors).toEqual([]);
  // At most two sign-ins are sent at a time.
  expect(app.sandbox.calls('login')).toBe(2);
  for (const answer of await Promise.all(hanging)) expect(answer.errors).toHaveLength(1);
});
