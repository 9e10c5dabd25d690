import { describe, expect, test } from 'vitest';
import { webSocketClient } from '../../end-to-end/live/watcher.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];

async function readiness({ url }: TestApp): Promise<unknown> {
  const response = await fetch(`${url}/health/ready`);
  return { status: response.status, body: await response.json() };
}

async function detailsFor({ adminUrl }: TestApp): Promise<unknown> {
  return (await fetch(`${adminUrl}/health/ready`)).json();
}

/** One for each account; a claim is none. */
async function provedTokens({ sandbox, query }: TestApp): Promise<string[]> {
  const tokens = EMAILS.map((email) => sandbox.token({ email }));
  for (const token of tokens) {
    expect((await query('{ session { login } }', { token })).errors).toEqual([]);
  }
  return tokens;
}

const codes = (errors: readonly { extensions: { code: string } }[]) =>
  errors.map(({ extensions }) => extensions.code);

const isUnavailable = { kind: 'status', status: 503 } as const;

describe('with the gateway down', () => {
  test('three hundred queries cost at most a tenth more calls, and readiness has the degraded reason', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app);
    app.sandbox.clearCalls();
    app.sandbox.fail({ operation: '*', ...isUnavailable });
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        app.query('{ session(maxAge: 0) { balance } }', {
          token: tokens[index % tokens.length] as string,
        }),
      ),
    );
    expect(new Set(answers.flatMap(({ errors }) => codes(errors)))).toEqual(
      new Set(['GATEWAY_UNAVAILABLE']),
    );
    expect(app.sandbox.calls() / 300).toBeLessThanOrEqual(1.1);
    expect(await readiness(app)).toEqual({
      status: 200,
      body: { status: 'degraded', reasons: ['gateway'] },
    });
    expect(await detailsFor(app)).toMatchObject({
      status: 'degraded',
      reasons: ['gateway'],
      details: [{ code: 'gateway', detail: 'gateway failing: getSession (5xx)' }],
    });
    const callsBefore = app.sandbox.calls();
    const next = await app.query('{ session(maxAge: 0) { login } }', {
      token: tokens[0] as string,
    });
    expect(codes(next.errors)).toEqual(['GATEWAY_UNAVAILABLE']);
    expect(app.sandbox.calls()).toBe(callsBefore);
    expect(app.logged.join()).toContain('circuit breaker');
  });

  test('dead payments leave positions, orders and sign-in alone', async () => {
    await using app = await startTestApp();
    const tokens = EMAILS.map((email) => app.sandbox.token({ email }));
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'reset-before' });
    app.sandbox.fail({ operation: 'getWithdrawalMethods', ...isUnavailable });
    for (let round = 0; round < 10; round += 1) {
      const answers = await Promise.all(
        tokens.map((token) =>
          app.query(
            '{ customerId withdrawalMethods { id } positions { id } session { balance } }',
            {
              token,
            },
          ),
        ),
      );
      for (const { data, errors } of answers) {
        expect(codes(errors)).toEqual(['GATEWAY_UNAVAILABLE', 'GATEWAY_UNAVAILABLE']);
        expect(data.positions).toBeInstanceOf(Array);
        expect(data.session).not.toBeNull();
      }
    }
    const { data } = await app.query(
      `mutation { placeOrder(input: {
        symbol: "AAPL", side: BUY, size: { amount: 100 }, idempotencyKey: "1"
      }) { __typename } }`,
      { token: tokens[0] as string },
    );
    expect(data.placeOrder.__typename).toMatch(/^Order(Accepted|Rejected)$/);
    expect(await app.signIn()).toEqual(expect.any(String));
    expect(await readiness(app)).toMatchObject({
      body: { reasons: ['gateway'] },
    });
    expect(await detailsFor(app)).toMatchObject({
      details: [
        { detail: expect.stringMatching(/^gateway failing: payments \((5xx|ECONNRESET)\)$/) },
      ],
    });
  });
});

test('an account’s failures, on however many tokens, leave the others’ reads alone', async () => {
  await using app = await startTestApp();
  const pro = app.sandbox.token({ email: 'pro@example.com' });
  app.sandbox.fail({ operation: 'getOpenPositions', ...isUnavailable, times: 200 });
  for (let index = 0; index < 30; index += 1) {
    const token = app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 100 + index });
    const { errors } = await app.query('{ positions { id } }', { token });
    expect(codes(errors)).toEqual(['GATEWAY_UNAVAILABLE']);
  }
  app.sandbox.clearFaults();
  expect(await readiness(app)).toMatchObject({ body: { status: 'ok' } });
  const { errors } = await app.query('{ positions { id } }', { token: pro });
  expect(errors).toEqual([]);
});

test('an account’s failing polls, on however many tokens, leave the others’ reads alone', async () => {
  await using app = await startTestApp({
    POSITIONS_POLL_MS: '100',
    POSITIONS_POLL_MAX_MS: '100',
  });
  const clients = Array.from({ length: 4 }, (_, at) =>
    webSocketClient(
      app,
      app.sandbox.token({ email: 'demo@example.com', expiresInSeconds: 100 + at }),
    ),
  );
  const watchers = clients.map((client) => client.watch());
  await eventually(() => watchers.every(({ list }) => list.length > 0));
  app.sandbox.fail({ operation: 'getOpenPositions', ...isUnavailable });
  const before = app.sandbox.calls('getOpenPositions');
  await eventually(() => app.sandbox.calls('getOpenPositions') >= before + 30);
  app.sandbox.clearFaults();
  const token = app.sandbox.token({ email: 'pro@example.com' });
  expect((await app.query('{ positions { id } }', { token })).errors).toEqual([]);
  await Promise.all(clients.map((client) => client.dispose()));
});

test('a feed’s poll that fails is not repeated before its own time', async () => {
  await using app = await startTestApp({ POSITIONS_POLL_MS: '20000', GATEWAY_TIMEOUT_MS: '1000' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  app.sandbox.fail({ operation: 'getOpenPositions', ...isUnavailable });
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
    },
    body: JSON.stringify({ query: 'subscription { positions { id } }' }),
  });
  // It ends when no first list has come in time, which is long after a retry would have gone out.
  expect(await response.text()).toContain('GATEWAY_UNAVAILABLE');
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
});
