import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { linesOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const SESSION = '{ session(maxAge: 0) { balance } }';
const POSITIONS = '{ positions { id } }';
const BEGUN = 'known tokens are refused';

const emailOf = (user: number) => `user-${user}@example.com`;
const loginOf = (user: number) => 800_000 + user;
const codesOf = ({ errors }: Awaited<ReturnType<TestApp['query']>>) =>
  errors.map(({ extensions }) => extensions.code);

/** Tokens of so many accounts, each accepted by the gateway. */
async function provedTokens(app: TestApp, accounts: number): Promise<string[]> {
  const tokens = [];
  for (let user = 1; user <= accounts; user += 1) {
    const token = app.sandbox.token({ email: emailOf(user) });
    expect(codesOf(await app.query(SESSION, { token }))).toEqual([]);
    tokens.push(token);
  }
  return tokens;
}

async function readinessOf({ adminUrl }: TestApp) {
  return (await fetch(`${adminUrl}/health/ready`)).json();
}

async function expectRefusing(app: TestApp, operation: string, accounts: string): Promise<void> {
  expect(linesOf(app, BEGUN)).toMatchObject([{ level: 'warn', operation }]);
  expect(await readinessOf(app)).toMatchObject({
    status: 'degraded',
    reasons: ['tokens'],
    details: [
      { code: 'tokens', detail: `known tokens are refused by ${operation}: ${accounts} accounts` },
    ],
  });
  expect(await seriesValue(app, `known_tokens_refused{operation="${operation}"}`)).toBe(1);
}

async function expectQuiet(app: TestApp): Promise<void> {
  expect(linesOf(app, BEGUN)).toEqual([]);
  expect(await readinessOf(app)).toMatchObject({ status: 'ok' });
}

const refused = (operation: string, token: string) =>
  `token_refusals_total{operation="${operation}",token="${token}"}`;

describe('an operation that refuses everybody', () => {
  test('is told, while clients hear what they always hear, until it accepts them again', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app, 5);
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 401 });
    for (const token of tokens) {
      await expectQuiet(app);
      expect(codesOf(await app.query(POSITIONS, { token }))).toEqual(['UNAUTHENTICATED']);
    }
    await expectRefusing(app, 'getOpenPositions', '5 of 5');
    expect(await seriesValue(app, refused('getOpenPositions', 'known'))).toBe(5);
    expect(await seriesValue(app, refused('getSession', 'known'))).toBe(0);
    // The proof is over: without one the snapshot of a moment ago is not served.
    const calls = app.sandbox.calls('getSession');
    await app.query('{ session { balance } }', { token: tokens[0] as string });
    expect(app.sandbox.calls('getSession')).toBe(calls + 1);

    app.sandbox.clearFaults();
    await eventually(async () => {
      for (let user = 1; user <= 5; user += 1) {
        await app.query(POSITIONS, { token: app.sandbox.token({ email: emailOf(user) }) });
      }
      expect(await readinessOf(app)).toMatchObject({ status: 'ok' });
    });
    expect(linesOf(app, 'known tokens are refused no more')).toMatchObject([
      { level: 'info', operation: 'getOpenPositions' },
    ]);
  });

  test('is told by tokens that `login` has just returned', async () => {
    await using app = await startTestApp();
    await provedTokens(app, 1);
    app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 401 });
    for (let user = 1; user <= 5; user += 1) {
      const token = await app.signIn(emailOf(user));
      expect(codesOf(await app.query(SESSION, { token }))).toEqual(['UNAUTHENTICATED']);
    }
    await expectRefusing(app, 'getSession', '5 of 5');
  });

  test('is told of a small write and of an order', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app, 5);
    app.sandbox.fail({ operation: 'openPosition', kind: 'status', status: 401 });
    const order =
      'mutation { placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "a-key-of-each-account" }) { __typename } }';
    for (const token of tokens) await app.query(order, { token });
    await expectRefusing(app, 'openPosition', '5 of 5');

    app.sandbox.clearFaults();
    app.sandbox.fail({ operation: 'setValue', kind: 'status', status: 401 });
    for (const token of await provedTokens(app, 5)) {
      await app.query('mutation { setValue(input: { key: "k", value: 1 }) { __typename } }', {
        token,
      });
    }
    expect(linesOf(app, BEGUN).map(({ operation }) => operation)).toEqual([
      'openPosition',
      'setValue',
    ]);
  });

  test('is no fault where most accounts are accepted', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app, 11);
    for (let user = 1; user <= 5; user += 1) {
      app.sandbox.fail({
        operation: 'getCustomerId',
        kind: 'status',
        status: 401,
        login: loginOf(user),
      });
    }
    for (const token of tokens.toReversed()) await app.query('{ customerId }', { token });
    expect(await seriesValue(app, refused('getCustomerId', 'known'))).toBe(5);
    await expectQuiet(app);
  });
});

describe('no fault is', () => {
  test('a flood of forged tokens, in a night without any other', async () => {
    await using app = await startTestApp();
    const exp = inSeconds(600);
    for (let login = 1; login <= 60; login += 1) {
      const token = unsignedToken({ login, group: 'standard-usd', exp });
      expect(codesOf(await app.query(POSITIONS, { token }))).toEqual(['UNAUTHENTICATED']);
    }
    expect(await seriesValue(app, refused('getOpenPositions', 'unknown'))).toBe(60);
    expect(await seriesValue(app, refused('getOpenPositions', 'known'))).toBe(0);
    expect(linesOf(app, BEGUN)).toEqual([]);
    expect(await seriesValue(app, 'degraded{reason="tokens"}')).toBe(0);
  });

  test('the end of one account’s sessions on all its devices', async () => {
    await using app = await startTestApp();
    const tokens = [];
    for (let device = 0; device < 8; device += 1) {
      const token = app.sandbox.token({ email: emailOf(1) });
      await app.query(SESSION, { token });
      tokens.push(token);
    }
    app.sandbox.revoke({ login: loginOf(1) });
    for (const token of tokens) {
      expect(codesOf(await app.query(POSITIONS, { token }))).toEqual(['UNAUTHENTICATED']);
    }
    expect(await seriesValue(app, refused('getOpenPositions', 'known'))).toBe(8);
    await expectQuiet(app);
  });

  test('the end of tokens that were proved and have expired', async () => {
    await using app = await startTestApp();
    const tokens = [];
    for (let user = 1; user <= 6; user += 1) {
      const token = app.sandbox.token({ email: emailOf(user), expiresInSeconds: 2 });
      await app.query(SESSION, { token });
      tokens.push(token);
    }
    const last = tokens.at(-1) as string;
    await eventually(async () => {
      expect(codesOf(await app.query('{ customerId }', { token: last }))).toEqual([
        'UNAUTHENTICATED',
      ]);
    });
    for (const token of tokens) await app.query('{ customerId }', { token });
    expect(await seriesValue(app, refused('getCustomerId', 'known'))).toBe(0);
    await expectQuiet(app);
  });
});

test('a key here that is not the issuer’s any more is told by tokens that `login` has just returned', async () => {
  const secret = 'the key that the service knows, and knew before';
  await using first = await startSandbox({ tickMs: 0, instruments: 10, secret });
  const { port } = first;
  await using app = await startTestApp(
    { JWT_SECRET: secret, GATEWAY_URL: first.url },
    { gateway: first },
  );
  await provedTokens(app, 2);
  await first.close();
  await using _second = await startSandbox({
    tickMs: 0,
    instruments: 10,
    port,
    secret: 'the key that came after it',
  });
  for (let user = 1; user <= 5; user += 1) {
    const token = await app.signIn(emailOf(user));
    expect(codesOf(await app.query(SESSION, { token }))).toEqual(['UNAUTHENTICATED']);
  }
  await expectRefusing(app, 'verification', '5 of 5');
  expect(await seriesValue(app, refused('verification', 'known'))).toBe(5);
});
