import { describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { lineOf, linesOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const EMAILS = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
const HOME =
  'query Home { session(maxAge: 0) { balance } positions { id } orders { id } customerId }';

/** One for each account: failures of strangers behind one address would be one account's. */
async function provedTokens({ sandbox, query }: TestApp): Promise<string[]> {
  const tokens = EMAILS.map((email) => sandbox.token({ email }));
  for (const token of tokens) await query('{ session { login } }', { token });
  return tokens;
}

describe('a gateway that is down', () => {
  test('costs a line for each request, one for each backend, and no stack', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app);
    const before = app.logged.length;
    app.sandbox.fail({ operation: '*', kind: 'reset-before' });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(tokens.map((token) => app.query(HOME, { token })));
    }
    await eventually(() => linesOf(app, 'request').length === 63);
    const begun = linesOf(app, 'a backend of the gateway fails');
    expect(begun.map(({ backend, level }) => `${level} ${backend}`).sort()).toEqual([
      'warn payments',
      'warn reads',
    ]);
    const lines = app.logged.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(6);
    expect(
      linesOf(app, 'circuit breaker')
        .map(({ circuit }) => circuit)
        .sort(),
    ).toEqual(['getCustomerId', 'getOpenPositions', 'getSession', 'reads']);
    expect(app.logged.join('')).not.toContain('stack');
    const last = linesOf(app, 'request').at(-1);
    expect(last).toMatchObject({
      outcome: 'fault',
      codes: ['GATEWAY_UNAVAILABLE'],
      reason: 'circuit_open',
    });
    expect(last?.calls).toContainEqual('getSession circuit 0ms');
    expect(JSON.stringify(last).length).toBeLessThan(700);
    // Nothing for each field, behind an open breaker.
    const ofLast = lines.filter(({ requestId }) => requestId === last?.requestId);
    expect(ofLast).toHaveLength(1);
  });

  test('is told by its receipt as what was called, without the calls that were held back', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app);
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503 });
    for (let round = 0; round < 10; round += 1) {
      await Promise.all(tokens.map((token) => app.query('{ customerId }', { token })));
    }
    const calls = app.sandbox.calls('getCustomerId');
    const { extensions } = await app.query('{ customerId }', { token: tokens[0] as string });
    expect(app.sandbox.calls('getCustomerId')).toBe(calls);
    expect(extensions.gateway).toEqual([]);
  });
});

describe('an answer with status 200 that breaks the interface', () => {
  const LOGIN =
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';
  test.each([
    ['reads', 'getSession', '{ session(maxAge: 0) { balance } }', 'garbage'],
    ['reads', 'getOpenPositions', '{ positions { id } }', 'garbage'],
    ['reads', 'getAllTickers', '{ catalog { version } }', 'garbage'],
    ['payments', 'getCustomerId', '{ customerId }', 'garbage'],
    ['payments', 'getCustomerId', '{ customerId }', 'html'],
    ['auth', 'login', LOGIN, 'garbage'],
  ] as const)(
    'is told with its backend (%s) and operation (%s), once',
    async (backend, operation, query, kind) => {
      await using app = await startTestApp();
      const token = app.sandbox.token({ email: 'demo@example.com' });
      const broken = () =>
        seriesValue(app, `gateway_answers_broken_total{operation="${operation}"}`);
      await app.query(query, { token });
      expect(await broken()).toBe(0);
      expect(linesOf(app, 'a backend of the gateway fails')).toEqual([]);
      app.sandbox.fail({ operation, kind });
      const other = app.sandbox.token({ email: 'pro@example.com' });
      const { errors } = await app.query(query, { token: other });
      expect(errors[0]?.extensions.code).toBe('GATEWAY_CONTRACT');
      expect(await lineOf(app, 'a backend of the gateway fails')).toMatchObject({
        backend,
        operation,
        outcome: 'contract',
      });
      expect(linesOf(app, 'a backend of the gateway fails')).toHaveLength(1);
      expect(await broken()).toBe(app.sandbox.calls(operation) - 1);
    },
  );
});

test('what the gateway says with a 500 is in the log, redacted, and not in the answer', async () => {
  await using app = await startTestApp();
  const body = { error: 'SQLSTATE 08006', message: 'db-7.internal refused jane@example.com' };
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500, body });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const { errors } = await app.query('{ customerId }', { token });
  expect(errors[0]?.extensions.code).toBe('GATEWAY_UNAVAILABLE');
  expect(JSON.stringify(errors)).not.toMatch(/SQLSTATE|internal/);
  expect(await lineOf(app, 'a backend of the gateway fails')).toMatchObject({
    operation: 'getCustomerId',
    gatewayError: { error: 'SQLSTATE 08006', message: 'db-7.internal refused […]' },
  });
});
