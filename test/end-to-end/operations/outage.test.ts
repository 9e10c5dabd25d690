import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { dateAhead } from '../../support/date-ahead.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-ports.ts';
import { readinessOf } from '../../support/readiness.ts';
import { codesOf } from '../limits/every-transport.ts';
import { provedTokens } from './accounts.ts';
import { lineOf, linesOf } from './request-lines.ts';
import { seriesValue } from './scraped.ts';

const HOME =
  'query Home { session(maxAge: 0) { balance } positions { id } orders { id } customerId }';
const LOGIN =
  'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }';

test('during an outage of the gateway the log has one line for each request and each area, and readiness names the operations', async () => {
  await using app = await startTestApp();
  const tokens = await provedTokens(app);
  const before = app.logged.length;
  expect(await seriesValue(app, 'circuit_open{area="reads"}')).toBe(0);
  app.sandbox.fail({ operation: '*', kind: 'reset-before' });
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(tokens.map((token) => app.query(HOME, { token })));
  }
  // `extensions.gateway` does not list calls that the open breaker has prevented.
  const callsBefore = app.sandbox.calls();
  const { extensions } = await app.query('{ customerId }', { token: tokens[0] as string });
  expect(app.sandbox.calls()).toBe(callsBefore);
  expect(extensions.gateway).toEqual([]);
  // Three requests prove the tokens, then there are twenty rounds of three requests, and one last request.
  await eventually(() => expect(linesOf(app, 'request')).toHaveLength(3 + 20 * 3 + 1));
  const lines = app.logged.slice(before).map((line) => JSON.parse(line));
  expect(lines.filter(({ level }) => level === 'warn' || level === 'error')).toHaveLength(2);
  const opened = linesOf(app, 'circuit breaker');
  expect(opened).toHaveLength(2);
  expect(opened.map(({ circuit }) => circuit)).toContain('getCustomerId');
  const cause = 'ECONNRESET';
  for (const line of opened) expect(line).toMatchObject({ state: 'open', cause });
  const { details } = await readinessOf(app.adminUrl);
  expect(details[0].detail).toMatch(
    /^gateway failing: .*getSession \(ECONNRESET\), .*getCustomerId \(ECONNRESET\)/,
  );
  for (const series of ['circuit_open{area="reads"}', 'degraded{reason="gateway"}']) {
    expect(await seriesValue(app, series)).toBe(1);
  }
  const series = 'gateway_calls_total{operation="getSession",origin="request",outcome="circuit"}';
  expect(await seriesValue(app, series)).toBeGreaterThan(0);
  expect(app.logged.join('')).not.toContain('stack');
  const last = linesOf(app, 'request').findLast((line) => line.operationName === 'Home');
  expect(last).toMatchObject({ outcome: 'fault', codes: ['GATEWAY_UNAVAILABLE'] });
  expect(last?.calls).toContainEqual('getSession circuit 0ms');
  expect(JSON.stringify(last).length).toBeLessThan(700);
  // While the breaker is open, the failed fields have no lines of their own.
  const linesOfLast = lines.filter(
    ({ requestId, level }) => requestId === last?.requestId && level !== 'debug',
  );
  expect(linesOfLast).toHaveLength(1);
});

test('while the gateway answers 429 to everything, readiness and one line of the log say so', async () => {
  await using app = await startTestApp();
  const tokens = await provedTokens(app);
  app.sandbox.fail({ operation: '*', kind: 'status', status: 429 });
  for (let round = 0; round < 8; round += 1) {
    for (const token of tokens) await app.query(HOME, { token });
  }
  const [line, ...more] = linesOf(app, 'quota of the gateway');
  expect([line?.level, more]).toEqual(['warn', []]);
  const { reasons, details } = await readinessOf(app.adminUrl);
  expect(reasons).toEqual(['gateway']);
  expect(details[0].detail).toMatch(/^gateway failing: .*\(429\)/);
});

test('an answer with status 200 and a wrong body is counted for its operation', async () => {
  await using app = await startTestApp();
  for (const [operation, query] of [
    ['getSession', '{ session(maxAge: 0) { balance } }'],
    ['getOpenPositions', '{ positions { id } }'],
    ['getAllTickers', '{ catalog { version } }'],
    ['getCustomerId', '{ customerId }'],
    ['login', LOGIN],
  ] as const) {
    const brokenAnswers = () =>
      seriesValue(app, `gateway_answers_broken_total{operation="${operation}"}`);
    expect(await brokenAnswers()).toBe(0);
    app.sandbox.clearCalls();
    app.sandbox.fail({ operation, kind: 'garbage' });
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const { errors } = await app.query(query, { token });
    expect(errors[0]?.extensions.code, operation).toBe('GATEWAY_CONTRACT');
    expect(await brokenAnswers()).toBe(app.sandbox.calls(operation));
    app.sandbox.clearFaults();
  }
});

test('an unknown host name and a closed port are logged as the cause of an open breaker', async () => {
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10 });
  for (const [GATEWAY_URL, ...causes] of [
    ['http://gateway.invalid', 'ENOTFOUND', 'EAI_AGAIN'],
    [`http://127.0.0.1:${await freePort()}`, 'ECONNREFUSED'],
  ] as const) {
    await using app = await startTestApp({ GATEWAY_URL }, { gateway });
    const token = gateway.token({ email: 'demo@example.com' });
    for (let time = 0; time < 5; time += 1) await app.query('{ customerId }', { token });
    expect(causes).toContain((await lineOf(app, 'circuit breaker')).cause);
    // The service still counts as ready.
    expect((await fetch(`${app.url}/health/ready`)).status).toBe(200);
  }
});

const DEMO = { email: 'demo@example.com' };
const HOUR_SECONDS = 3_600;

const ask = async (app: TestApp, token: string) =>
  codesOf(await app.query('{ customerId }', { token }));

test('the difference between our clock and the gateway’s is measured, and reported until it ends', async () => {
  await using app = await startTestApp();
  app.sandbox.fail({ operation: '*', kind: 'delay', headers: dateAhead(-2 * HOUR_SECONDS) });
  const token = app.sandbox.token(DEMO);
  for (let call = 0; call < 10; call += 1) expect(await ask(app, token)).toEqual([]);
  const skew = await seriesValue(app, 'gateway_clock_skew_seconds');
  expect(skew).toBeGreaterThan(-2 * HOUR_SECONDS - 5);
  expect(skew).toBeLessThan(-2 * HOUR_SECONDS + 5);
  const detail = expect.stringMatching(
    /^the gateway's clock is (719\d|720\d) s behind this machine's$/,
  );
  const details = [{ code: 'clock', detail }];
  expect(await readinessOf(app.adminUrl)).toMatchObject({ status: 'degraded', details });
  app.sandbox.clearFaults();
  await eventually(async () => {
    await ask(app, token);
    expect(Math.abs(await seriesValue(app, 'gateway_clock_skew_seconds'))).toBeLessThan(5);
  });
});
