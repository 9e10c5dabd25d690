import { beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { ownApp } from '../../support/shared-app.ts';
import { closedClients } from './closed-clients.ts';
import { type Watcher, webSocketClient } from './watcher.ts';

// So long that no poll falls due during a test.
const POLL_MS = '86400000';

const app = ownApp({ POSITIONS_POLL_MS: POLL_MS, POSITIONS_POLL_MAX_MS: POLL_MS });
let token: string;
const opened = closedClients();
let watcher: Watcher;

beforeEach(async () => {
  token = app.sandbox.token({ email: 'demo@example.com' });
  watcher = opened(webSocketClient(app, token)).watch();
  await eventually(() => watcher.last !== undefined);
  app.sandbox.clearCalls();
});

test('a query reads the running feed while it is younger than a poll', async () => {
  app.sandbox.tick();
  const { data, extensions } = await app.query('{ positions { id profit } }', { token });
  expect(data.positions).toHaveLength(6);
  for (const { id, profit } of data.positions) expect(profit).toBe(watcher.rows.get(id)?.profit);
  expect(extensions.gateway).toMatchObject([{ operation: 'getOpenPositions', source: 'shared' }]);
  expect(app.sandbox.calls('getOpenPositions')).toBe(0);
});

test('another device has to be proved before it reads the feed', async () => {
  const other = app.sandbox.token({ email: 'demo@example.com' });
  await app.query('{ positions { id } }', { token: other });
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
});

test('a cached snapshot has the positions of the feed, once that is younger', async () => {
  const ask = () => app.query('{ session { positions { id priceCurrent } fetchedAt } }', { token });
  const first = (await ask()).data.session;
  app.sandbox.tick();
  // Another device's snapshot differs from the list, and makes a poll due long before the next one would be.
  const other = app.sandbox.token({ email: 'demo@example.com' });
  await app.query('{ session { positions { id } } }', { token: other });
  app.sandbox.clearCalls();
  await eventually(() => watcher.events.length > 1);
  const second = (await ask()).data.session;
  expect(second.fetchedAt).toBe(first.fetchedAt);
  expect(second.positions).not.toEqual(first.positions);
  for (const { id, priceCurrent } of second.positions) {
    expect(priceCurrent).toBe(watcher.rows.get(id)?.priceCurrent);
  }
  expect(app.sandbox.calls('getSession')).toBe(0);
});
