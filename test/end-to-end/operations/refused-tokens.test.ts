import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { provedTokens } from './accounts.ts';
import { seriesValue } from './scraped.ts';

const SESSION = '{ session(maxAge: 0) { balance } }';
const POSITIONS = '{ positions { id } }';

const FIVE = [1, 2, 3, 4, 5].map((user) => `user-${user}@example.com`);
const codesOf = ({ errors }: Awaited<ReturnType<TestApp['query']>>) =>
  errors.map(({ extensions }) => extensions.code);

async function expectAccounts(
  app: TestApp,
  operation: string,
  expected: { readonly accepted: number; readonly refused: number },
): Promise<void> {
  const of = (verdict: string) =>
    seriesValue(app, `token_accounts{operation="${operation}",verdict="${verdict}"}`);
  expect({ accepted: await of('accepted'), refused: await of('refused') }).toEqual(expected);
}

describe('an operation that refuses everybody', () => {
  test('shows in the accounts that it refuses, while clients hear what they always hear', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app, FIVE);
    app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 401 });
    for (const token of tokens) {
      expect(codesOf(await app.query(POSITIONS, { token }))).toEqual(['UNAUTHENTICATED']);
    }
    await expectAccounts(app, 'getOpenPositions', { accepted: 0, refused: 5 });
    await expectAccounts(app, 'getSession', { accepted: 5, refused: 0 });
    // The proof is over: without one the snapshot of a moment ago is not served.
    const calls = app.sandbox.calls('getSession');
    await app.query('{ session { balance } }', { token: tokens[0] as string });
    expect(app.sandbox.calls('getSession')).toBe(calls + 1);

    app.sandbox.clearFaults();
    for (const email of FIVE) {
      await app.query(POSITIONS, { token: app.sandbox.token({ email }) });
    }
    await expectAccounts(app, 'getOpenPositions', { accepted: 5, refused: 0 });
  });

  test('is told of a small write and of an order', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app, FIVE);
    const order =
      'mutation { placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "a-key-of-each-account" }) { __typename } }';
    for (const [at, token] of tokens.entries()) {
      const status = [500, 422][at] ?? 401;
      app.sandbox.fail({ operation: 'openPosition', kind: 'status', status, times: 1 });
      await app.query(order, { token });
    }
    // A failure says nothing of a token, and a rejection that it was accepted.
    await expectAccounts(app, 'openPosition', { accepted: 1, refused: 3 });

    app.sandbox.fail({ operation: 'setValue', kind: 'status', status: 401 });
    for (const token of await provedTokens(app, FIVE)) {
      await app.query('mutation { setValue(input: { key: "k", value: 1 }) { __typename } }', {
        token,
      });
    }
    await expectAccounts(app, 'setValue', { accepted: 0, refused: 5 });
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
  await provedTokens(app, FIVE.slice(0, 2));
  await first.close();
  await using _second = await startSandbox({
    tickMs: 0,
    instruments: 10,
    port,
    secret: 'the key that came after it',
  });
  for (const email of FIVE) {
    const token = await app.signIn(email);
    expect(codesOf(await app.query(SESSION, { token }))).toEqual(['UNAUTHENTICATED']);
  }
  await expectAccounts(app, 'verification', { accepted: 0, refused: 5 });
});
