import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { DEFAULT_LIMITS, limited, withoutRefills } from '../../support/limits.ts';
import { startTestRedis } from '../../support/redis.ts';
import { forgedToken } from '../../support/tokens.ts';
import { initializedSocket, isServed } from '../live/raw-socket.ts';

const DEMO = { email: 'demo@example.com' };
const TYPENAME = '{ __typename }';
const PROXIED = { TRUSTED_PROXIES: '127.0.0.1' };
/** Few, since each is proportionate to what it takes to use it up. */
const FEW_REQUESTS = { RATE_LIMIT_PER_MINUTE: '40' };
const SOCKETS = 16;
const FEW_SOCKETS = {
  connections: { ...DEFAULT_LIMITS.connections, most: { account: SOCKETS, address: 5_000 } },
};

/** The header of a proxy in front of the facade. */
const from = (address: string) => ({ 'x-forwarded-for': address });

let keys = 0;

/** What becomes of an order: its type, or the code of its error. */
async function sell(app: TestApp, token: string, headers = {}): Promise<string> {
  keys += 1;
  const { data, errors } = await app.query(
    `mutation { placeOrder(input: {
      symbol: "AAPL", side: SELL, size: { amount: 20 }, idempotencyKey: "innocent-${keys}"
    }) { __typename } }`,
    { token, headers },
  );
  return data?.placeOrder?.__typename ?? errors[0]?.extensions.code;
}

/** The token of a sign-in, or the code of its error. */
async function signIn(app: TestApp, password = 'demo', headers = {}): Promise<string> {
  const { data, errors } = await app.query(
    `mutation { login(input: { email: "demo@example.com", password: "${password}" }) {
      __typename ... on LoginSuccess { accessToken }
    } }`,
    { headers },
  );
  const { accessToken, __typename } = data?.login ?? {};
  return accessToken ?? __typename ?? errors[0]?.extensions.code;
}

/** How often each answer came: `ok`, or the code of its error. */
async function tally(times: number, ask: (at: number) => Promise<{ errors: TestErrors }>) {
  const counts: Record<string, number> = {};
  for (const { errors } of await inParallel(times, 20, ask)) {
    const code = errors[0]?.extensions.code ?? 'ok';
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
}

type TestErrors = readonly { readonly extensions: { readonly code: string } }[];

test('mails that reset a password cannot be ordered by the thousand for a victim, others get theirs', async () => {
  await using app = await startTestApp(PROXIED, { refills: false });
  const mail = (email: string) => `forgotPassword(input: { email: "${email}" }) { __typename }`;
  const forgot = (email: string, at: number) =>
    app.query(`mutation { ${mail(email)} }`, { headers: from(`192.0.2.${at}`) });
  const { errors } = await app.query(`mutation { a: ${mail('a@b.c')} b: ${mail('d@e.f')} }`);
  expect(errors[0]?.extensions.code).toBe('QUERY_TOO_COMPLEX');
  const counts = await tally(40, (at) => forgot('victim@example.com', at));
  expect(counts).toEqual({ ok: 3, RATE_LIMITED: 37 });
  expect(app.sandbox.calls('forgotPassword')).toBe(3);
  expect((await forgot('other@example.com', 1)).errors).toEqual([]);
});

describe('the owner of an account sells, whatever is done', () => {
  /** A token that the gateway accepted, and that has ended since. */
  async function ended(app: TestApp, how: 'expired' | 'revoked'): Promise<string> {
    const expiresInSeconds = how === 'expired' ? 4 : 3_600;
    const token = app.sandbox.token({ ...DEMO, expiresInSeconds });
    expect((await app.query('{ session { login } }', { token })).errors).toEqual([]);
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    if (how === 'expired') await eventually(() => Date.now() > exp * 1_000);
    else app.sandbox.revoke({ token });
    return token;
  }

  test.each(['expired', 'revoked'] as const)(
    'with all requests of a minute by a token that is %s',
    async (how) => {
      await using app = await startTestApp({ ...PROXIED, ...FEW_REQUESTS }, { refills: false });
      const token = await ended(app, how);
      const headers = from('203.0.113.1');
      const counts = await tally(60, () => app.query(TYPENAME, { token, headers }));
      expect(counts.RATE_LIMITED).toBeGreaterThan(0);
      const own = app.sandbox.token(DEMO);
      expect(await sell(app, own, from('192.0.2.1'))).toBe('OrderAccepted');
      expect(await sell(app, own, from('192.0.2.1'))).toBe('OrderAccepted');
    },
  );

  test('with sockets whose token expires while they are open', async () => {
    await using app = await startTestApp({}, { limits: FEW_SOCKETS, connections: { pingMs: 240 } });
    using sockets = new DisposableStack();
    const tokens = [1, 2].map(() => app.sandbox.token({ ...DEMO, expiresInSeconds: 4 }));
    for (let at = 0; at < SOCKETS; at += 1) {
      const raw = sockets.use(await initializedSocket(app, tokens[at % 2]));
      raw.subscribe('1', '{ session { login } }');
      await raw.until('1', 'complete');
    }
    await eventually(() => isServed(app, app.sandbox.token(DEMO)));
  });
});

describe('where forged tokens are tried, from the same address,', () => {
  /** More than an address may try, so that nothing is left for others. */
  const flood = (app: TestApp) =>
    tally(200, (at) => app.query('{ session { login } }', { token: forgedToken(at) }));

  test('whoever signs in with the right password sells', async () => {
    await using app = await startTestApp();
    expect((await flood(app)).RATE_LIMITED).toBeGreaterThan(0);
    const token = await signIn(app);
    expect((await app.query('{ session { login } }', { token })).errors).toEqual([]);
    expect(await sell(app, token)).toBe('OrderAccepted');
    expect(await sell(app, await signIn(app))).toBe('OrderAccepted');
  });

  test('who was never seen is asked to wait, and at another address is not', async () => {
    await using app = await startTestApp(PROXIED, { refills: false });
    await flood(app);
    expect(await sell(app, app.sandbox.token(DEMO))).toBe('RATE_LIMITED');
    expect(await sell(app, app.sandbox.token(DEMO), from('192.0.2.1'))).toBe('OrderAccepted');
  });
});

describeWithRedis('on the next replica', (serverPath) => {
  test('a token is known that was accepted or returned by another, until it is refused', async () => {
    await using redis = await startTestRedis(serverPath);
    await using gateway = await startSandbox({ instruments: 40, tickMs: 0 });
    const environment = { REDIS_URL: redis.url };
    await using one = await startTestApp(environment, { gateway });
    await using other = await startTestApp(environment, { gateway, refills: false });
    const [accepted, returned] = [gateway.token(DEMO), await signIn(one)];
    const revoked = gateway.token(DEMO);
    for (const token of [accepted, revoked]) {
      expect((await one.query('{ session { login } }', { token })).errors).toEqual([]);
    }
    gateway.revoke({ token: revoked });
    await one.query('{ session(maxAge: 0) { login } }', { token: revoked });
    await tally(200, (at) => other.query('{ session { login } }', { token: forgedToken(at) }));
    expect(await sell(other, accepted)).toBe('OrderAccepted');
    expect(await sell(other, returned)).toBe('OrderAccepted');
    expect(await sell(other, revoked)).toBe('RATE_LIMITED');
  });
});

test('sign-ins that were never sent use up nothing of their address: whoever tried in an outage signs in after it', async () => {
  await using first = await startSandbox({ instruments: 40, tickMs: 0 });
  const { port } = first;
  await first.close();
  const limits = { RATE_LIMIT_PER_MINUTE: '10' };
  await using app = await startTestApp(limits, { gateway: first, refills: false });
  // As many as the address may send in a minute, and as the reserve has, and more.
  for (let at = 0; at < 80; at += 1) expect(await signIn(app)).toBe('GATEWAY_UNAVAILABLE');
  await using _back = await startSandbox({ instruments: 40, tickMs: 0, port });
  for (let at = 0; at < 9; at += 1) expect(await signIn(app, 'wrong')).toBe('LoginRejected');
  // One that went out is charged, and other requests are.
  expect((await tally(3, () => app.query(TYPENAME))).RATE_LIMITED).toBe(2);
});

describe('at an address that has used up its requests', () => {
  test('who is proved opens a socket, whatever was sent there', async () => {
    const limits = withoutRefills(limited('messages', 60));
    await using app = await startTestApp({}, { limits });
    const token = app.sandbox.token(DEMO);
    expect(await sell(app, token)).toBe('OrderAccepted');
    const counts = await tally(100, async () => {
      const { status } = await fetch(`${app.url}/nothing`);
      return { errors: status === 429 ? [{ extensions: { code: 'RATE_LIMITED' } }] : [] };
    });
    expect(counts.RATE_LIMITED).toBeGreaterThan(0);
    using raw = await initializedSocket(app, token);
    await raw.watch('1', TYPENAME);
  });

  test('whoever signs in sells', async () => {
    await using app = await startTestApp(FEW_REQUESTS, { refills: false });
    expect((await tally(60, () => app.query(TYPENAME))).RATE_LIMITED).toBeGreaterThan(0);
    const token = await signIn(app);
    expect(await sell(app, token)).toBe('OrderAccepted');
  });

  test('whoever was proved before does, and what is not known does not', async () => {
    const limits = { AUTH_PROOF_SECONDS: '1', RATE_LIMIT_PER_MINUTE: '20' };
    await using app = await startTestApp(limits, { refills: false });
    const token = app.sandbox.token(DEMO);
    expect(await sell(app, token)).toBe('OrderAccepted');
    const provedAtMs = systemClock.now();
    await eventually(() => systemClock.now() - provedAtMs > 1_100);
    expect((await tally(60, () => app.query(TYPENAME))).RATE_LIMITED).toBeGreaterThan(0);
    expect(await sell(app, token)).toBe('OrderAccepted');
    const strangers = await tally(20, () =>
      app.query(TYPENAME, { token: app.sandbox.token({ email: 'pro@example.com' }) }),
    );
    expect(strangers.RATE_LIMITED).toBeGreaterThan(10);
  });
});

test('a small write by the hundred is refused, and others of the account are not', async () => {
  await using app = await startTestApp({}, { refills: false });
  const token = app.sandbox.token(DEMO);
  await app.query('{ session { login } }', { token });
  const write = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
  const counts = await tally(60, () => app.query(write, { token }));
  expect(counts.RATE_LIMITED).toBeGreaterThan(0);
  const device = 'mutation { registerDevice(input: { deviceId: "d" }) { __typename } }';
  expect((await app.query(device, { token })).errors).toEqual([]);
  expect(await sell(app, token)).toBe('OrderAccepted');
});
