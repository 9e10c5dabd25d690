import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { provedTokens } from './accounts.ts';
import { lineOf, linesOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const HOME =
  'query Home { session(maxAge: 0) { balance } positions { id } orders { id } customerId }';

describe('a gateway that is down', () => {
  test('costs a line for each request, one for each breaker, and no stack', async () => {
    await using app = await startTestApp();
    const tokens = await provedTokens(app);
    const before = app.logged.length;
    app.sandbox.fail({ operation: '*', kind: 'reset-before' });
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(tokens.map((token) => app.query(HOME, { token })));
    }
    await eventually(() => linesOf(app, 'request').length === 63);
    const lines = app.logged.slice(before).map((line) => JSON.parse(line));
    expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(4);
    const opened = linesOf(app, 'circuit breaker');
    expect(opened.map(({ circuit }) => circuit).sort()).toEqual([
      'getCustomerId',
      'getOpenPositions',
      'getSession',
      'reads',
    ]);
    for (const each of opened) expect(each).toMatchObject({ state: 'open', cause: 'ECONNRESET' });
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
    ['getSession', '{ session(maxAge: 0) { balance } }', 'garbage'],
    ['getOpenPositions', '{ positions { id } }', 'garbage'],
    ['getAllTickers', '{ catalog { version } }', 'garbage'],
    ['getCustomerId', '{ customerId }', 'garbage'],
    ['getCustomerId', '{ customerId }', 'html'],
    ['login', LOGIN, 'garbage'],
  ] as const)('is counted for its operation: %s', async (operation, query, kind) => {
    await using app = await startTestApp();
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const broken = () => seriesValue(app, `gateway_answers_broken_total{operation="${operation}"}`);
    await app.query(query, { token });
    expect(await broken()).toBe(0);
    app.sandbox.fail({ operation, kind });
    const other = app.sandbox.token({ email: 'pro@example.com' });
    const { errors } = await app.query(query, { token: other });
    expect(errors[0]?.extensions.code).toBe('GATEWAY_CONTRACT');
    expect(await broken()).toBe(app.sandbox.calls(operation) - 1);
  });
});

test('what the gateway says with a 500 is in the line of its breaker, redacted, and not in the answer', async () => {
  await using app = await startTestApp();
  const tokens = await provedTokens(app);
  const body = { error: 'SQLSTATE 08006', message: 'db-7.internal refused jane@example.com' };
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500, body });
  for (let at = 0; at < 12; at += 1) {
    const { errors } = await app.query('{ customerId }', { token: tokens[at % 3] as string });
    expect(errors[0]?.extensions.code).toBe('GATEWAY_UNAVAILABLE');
    expect(JSON.stringify(errors)).not.toMatch(/SQLSTATE|internal/);
  }
  expect(await lineOf(app, 'circuit breaker')).toMatchObject({
    circuit: 'getCustomerId',
    state: 'open',
    cause: '5xx',
    gatewayError: { error: 'SQLSTATE 08006', message: 'db-7.internal refused […]' },
  });
});
