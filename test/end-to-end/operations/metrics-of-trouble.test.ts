import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket } from '../live/raw-socket.ts';
import { EMAILS } from './accounts.ts';
import { moved, seriesValue } from './scraped.ts';

const CATALOG = '{ catalog { version } }';
const LIVE = 'subscription { positionChanges { cursor } }';

describe('the catalog', () => {
  const app = sharedApp({ CATALOG_MAX_AGE_SECONDS: '3600' });
  let token: string;
  const read = () => app.query(CATALOG, { token });
  const fetches = (outcome: string) => `catalog_fetches_total{outcome="${outcome}"}`;
  beforeAll(() => {
    token = app.sandbox.token({ email: 'demo@example.com' });
  });

  test('that grows old, is stale, and is fresh again', async () => {
    // Two seconds from its end, by the gateway's own account.
    app.sandbox.changeCatalog({ broken: 3, ageSeconds: 3_598 });
    await read();
    expect(await seriesValue(app, 'catalog_skipped{group="standard-usd"}')).toBe(3);
    expect(await seriesValue(app, 'catalog_age_seconds')).toBeGreaterThanOrEqual(3_598);
    app.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 503 });
    await eventually(async () => {
      await read();
      expect(await seriesValue(app, 'stale_catalogs')).toBe(1);
    });
    await eventually(async () => (await seriesValue(app, fetches('failed'))) > 0);
    app.sandbox.clearFaults();
    app.sandbox.changeCatalog({ ageSeconds: 0 });
    await eventually(async () => {
      await read();
      expect(await seriesValue(app, fetches('unmodified'))).toBe(1);
    });
    expect(await seriesValue(app, 'stale_catalogs')).toBe(0);
    expect(await seriesValue(app, 'catalog_age_seconds')).toBeLessThan(60);
  });

  test('that one token may not read', async () => {
    const other = app.sandbox.token({ email: 'pro@example.com' });
    app.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 403, times: 1 });
    await moved(app, fetches('personal'), 1, () => app.query(CATALOG, { token: other }));
  });
});

describe('polls and calls', () => {
  async function watched(app: TestApp): Promise<DisposableStack> {
    const sockets = new DisposableStack();
    for (const email of EMAILS) {
      const socket = sockets.use(await initializedSocket(app, app.sandbox.token({ email })));
      socket.subscribe('1', LIVE);
    }
    return sockets;
  }

  test('that wait for the ceiling, which stretches all intervals', async () => {
    await using app = await startTestApp({
      GATEWAY_POLLS_PER_SECOND: '1',
      POSITIONS_POLL_MS: '100',
    });
    expect(await seriesValue(app, 'feed_poll_stretch')).toBe(1);
    using _sockets = await watched(app);
    await eventually(async () => {
      expect(await seriesValue(app, 'feed_poll_stretch')).toBeGreaterThan(2);
      expect(await seriesValue(app, 'feed_polls_waiting')).toBeGreaterThan(0);
    });
  });

  test('that wait for a connection', async () => {
    await using app = await startTestApp({ GATEWAY_CONNECTIONS: '3', POSITIONS_POLL_MS: '100' });
    using _sockets = await watched(app);
    await eventually(async () => (await seriesValue(app, 'feeds')) === EMAILS.length);
    app.sandbox.fail({ operation: '*', kind: 'delay', delayMs: 1_500 });
    const token = app.sandbox.token({ email: 'user-1@example.com' });
    const answers = Array.from({ length: 4 }, (_, at) =>
      app.query(`{ a${at}: session(maxAge: 0) { login } customerId }`, { token }),
    );
    await eventually(async () => (await seriesValue(app, 'gateway_polls_waiting')) > 0);
    await eventually(
      async () => (await seriesValue(app, 'gateway_calls_waiting{area="rest"}')) > 0,
    );
    app.sandbox.clearFaults();
    await Promise.all(answers);
    await eventually(
      async () => (await seriesValue(app, 'gateway_calls_waiting{area="rest"}')) === 0,
    );
  });
});
