import { expect, test, vi } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { readinessOf } from '../../support/readiness.ts';
import { inSeconds, signedToken } from '../../support/tokens.ts';
import { sseClient, webSocketClient } from '../live/watcher.ts';
import { seriesValue } from './scraped.ts';

const DEMO = { email: 'demo@example.com' };
const HOUR = 3_600;
const RealDate = Date;

async function ask(app: TestApp, token: string): Promise<readonly string[]> {
  const { errors } = await app.query('{ customerId }', { token });
  return errors.map(({ extensions }) => extensions.code);
}

function setDateBack(seconds: number): void {
  const now = () => RealDate.now() - seconds * 1_000;
  const Behind = class extends RealDate {
    static override now = now;

    constructor(...parts: readonly [string | number | Date] | readonly []) {
      super(parts[0] ?? now());
    }
  };
  vi.stubGlobal('Date', Behind);
}

const tokens = (app: TestApp, result: string) =>
  seriesValue(app, `tokens_total{result="${result}"}`);

test('a clock that is two hours ahead of the gateway’s is measured, and which tokens it refuses', async () => {
  await using app = await startTestApp();
  app.sandbox.fail({ operation: '*', kind: 'clock', shiftSeconds: -2 * HOUR });
  const token = app.sandbox.token(DEMO);
  for (let call = 0; call < 10; call += 1) expect(await ask(app, token)).toEqual([]);
  const skew = await seriesValue(app, 'gateway_clock_skew_seconds');
  expect(skew).toBeGreaterThan(-2 * HOUR - 5);
  expect(skew).toBeLessThan(-2 * HOUR + 5);
  const detail = expect.stringMatching(
    /^the gateway's clock is (719\d|720\d) s behind this machine's$/,
  );
  const details = [{ code: 'gateway', detail }];
  expect(await readinessOf(app.adminUrl)).toMatchObject({ status: 'degraded', details });

  // By the gateway's clock it has an hour left; the answer is what it was.
  const calls = app.sandbox.calls();
  const late = app.sandbox.token({ ...DEMO, expiresInSeconds: -HOUR });
  expect(await ask(app, late)).toEqual(['UNAUTHENTICATED']);
  expect([await tokens(app, 'refused_by_clock'), await tokens(app, 'other')]).toEqual([1, 0]);
  const over = app.sandbox.token({ ...DEMO, expiresInSeconds: -3 * HOUR });
  expect(await ask(app, over)).toEqual(['UNAUTHENTICATED']);
  expect([await tokens(app, 'refused_by_clock'), await tokens(app, 'other')]).toEqual([1, 1]);
  expect(app.sandbox.calls()).toBe(calls);

  app.sandbox.clearFaults();
  await eventually(async () => {
    await ask(app, token);
    expect(Math.abs(await seriesValue(app, 'gateway_clock_skew_seconds'))).toBeLessThan(5);
  });
  expect(await ask(app, app.sandbox.token({ ...DEMO, expiresInSeconds: -HOUR }))).toHaveLength(1);
  expect([await tokens(app, 'refused_by_clock'), await tokens(app, 'other')]).toEqual([1, 2]);
});

test('a clock that is set back by an hour is told by tokens that the gateway takes for expired, and by those to come', async () => {
  const secret = 'the key that the service and its gateway know';
  await using gateway = await startSandbox({ tickMs: 0, instruments: 10, secret });
  await using app = await startTestApp(
    { JWT_SECRET: secret, GATEWAY_URL: gateway.url },
    { gateway },
  );
  setDateBack(HOUR);
  gateway.fail({ operation: '*', kind: 'clock', shiftSeconds: HOUR });
  const token = gateway.token(DEMO);
  for (let call = 0; call < 10; call += 1) expect(await ask(app, token)).toEqual([]);
  const skew = await seriesValue(app, 'gateway_clock_skew_seconds');
  expect(skew).toBeGreaterThan(HOUR - 5);
  expect(skew).toBeLessThan(HOUR + 5);
  const early = signedToken({
    claims: { login: 700_001, group: 'g', nbf: inSeconds(HOUR / 2), exp: inSeconds(HOUR) },
    secret,
  });
  expect(await ask(app, early)).toEqual(['UNAUTHENTICATED']);
  expect(await tokens(app, 'refused_by_clock')).toBe(1);
  const over = gateway.token({ ...DEMO, expiresInSeconds: HOUR / 2 });
  gateway.clearFaults();
  gateway.fail({ operation: 'getCustomerId', kind: 'status', status: 401 });
  expect(await ask(app, over)).toEqual(['UNAUTHENTICATED']);
  expect(await tokens(app, 'refused_by_clock')).toBe(2);
});

test('a clock that is set back by two hours stops no live list, and keeps nothing for longer', async () => {
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100', SESSION_MAX_AGE_SECONDS: '1' });
  const token = app.sandbox.token(DEMO);
  const clients = [webSocketClient(app, token), sseClient(app, token)];
  const watchers = clients.map((client) => client.watch());
  await eventually(() => watchers.every(({ list }) => list.length > 0));
  expect(await ask(app, token)).toEqual([]);
  const fetchedAt = async () => {
    const { data } = await app.query('{ session { fetchedAt } }', { token });
    return Date.parse(data.session.fetchedAt);
  };
  const firstMs = await fetchedAt();
  setDateBack(2 * HOUR);
  for (let change = 0; change < 3; change += 1) {
    const before = watchers.map(({ events }) => events.length);
    app.sandbox.tick();
    await eventually(() => watchers.every(({ events }, at) => events.length > (before[at] ?? 0)));
  }
  await eventually(async () => (await fetchedAt()) > firstMs);
  // A token is in time by the date as it is now.
  const late = app.sandbox.token({ ...DEMO, expiresInSeconds: 60 });
  expect(await ask(app, late)).toEqual([]);
  const later = webSocketClient(app, late);
  clients.push(later);
  const listed = later.watch();
  await eventually(() => listed.list.length > 0);
  expect([...watchers, listed].map(({ ended }) => ended)).toEqual([null, null, null]);
  await Promise.all(clients.map((client) => client.dispose()));
});
