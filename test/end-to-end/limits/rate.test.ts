import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { limited, withoutRefills } from '../../support/limits.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { startTestRedis } from '../../support/redis.ts';
import { forgedToken } from '../../support/tokens.ts';
import { initializedSocket, openSocket } from '../live/raw-socket.ts';
import { provedToken } from '../operations/accounts.ts';

/** How many unproved tokens an address may try. */
const PROOFS = 40;
const FEW_PROOFS = { limits: withoutRefills(limited('proofs', PROOFS)) };
const DEMO = { email: 'demo@example.com' };

/** The remaining operations of the minute, from the answer's headers. */
function remaining(headers: Headers): number {
  return Number(/"default";r=(\d+);t=\d+/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

/** Starts a service whose limits are not refilled while the test runs. */
const startWithoutRefills = (environment: Readonly<Record<string, string>>) =>
  startTestApp(environment, { refills: false });

test('operations are answered with the remaining quota, and refused with Retry-After', async () => {
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

/** The messages that a socket of an unproved client may send. */
const MESSAGES = 10;
const startWithFewMessages = () =>
  startTestApp({}, { limits: withoutRefills(limited('messages', MESSAGES)) });

test('at a flooded address a socket can still prove its token, and its account’s messages are counted apart', async () => {
  await using app = await startWithFewMessages();
  const token = await provedToken(app, DEMO.email);
  const flood = () => rawRequest(`${app.url}/nothing`);
  const statuses = await inParallel(MESSAGES + 5, 1, async () => (await flood()).status);
  expect(statuses.at(-1)).toBe(429);
  using socket = await initializedSocket(app, token);
  await socket.watch('1', '{ __typename }');
});

test('no message of a socket is handled beyond the limit, which counts pings and pongs too', async () => {
  await using app = await startWithFewMessages();
  using queries = await openSocket(app);
  queries.send({ type: 'connection_init' });
  for (let id = 1; id <= 3 * MESSAGES; id += 1) queries.subscribe(String(id), '{ __typename }');
  await eventually(() => expect(queries.closed).toMatchObject({ code: 1013 }));
  const answers = queries.messages.filter(({ type }) => type === 'next');
  const before = answers.length;
  expect(before).toBeGreaterThan(0);
  expect(before).toBeLessThan(MESSAGES + 3);
  for (const frame of ['ping', 'pong'] as const) {
    using other = await openSocket(app);
    for (let sent = 0; sent < 5; sent += 1) other.socket[frame]();
    await eventually(() => expect(other.closed).toMatchObject({ code: 1013 }));
  }
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

/** Places an order. Returns its outcome's type, or the code of its error. */
async function buy(app: TestApp, token: string, key: string): Promise<string> {
  const { data, errors } = await app.query(buying(key, '__typename'), { token });
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
    expect(await buy(other, accepted, 'accepted')).toBe('OrderAccepted');
    expect(await buy(other, issued, 'issued')).toBe('OrderAccepted');
    expect(await buy(other, revoked, 'revoked')).toBe('RATE_LIMITED');
  });
});
