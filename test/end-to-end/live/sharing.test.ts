import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { seriesValue } from '../operations/scraped.ts';
import { LIST, sseClient, webSocketClient } from './watcher.ts';

const POLL_MS = 200;
const INTERVALS = 6;

test('all watchers of one account, on both transports and three devices, share one poll and see the same', async () => {
  await using app = await startTestApp({ POSITIONS_POLL_MS: String(POLL_MS) });
  const { sandbox } = app;
  const polls = () => sandbox.calls('getOpenPositions');
  const clients = [1, 2, 3].flatMap(() => {
    const token = sandbox.token({ email: 'demo@example.com' });
    return [webSocketClient(app, token), webSocketClient(app, token), sseClient(app, token)];
  });
  const watchers = clients.flatMap((client) => [
    ...[client.watch(), client.watch()],
    ...[client.watch({}, LIST), client.watch({}, LIST)],
  ]);
  await eventually(() => watchers.every(({ list }) => list.length === 6));

  const pollsBefore = polls();
  const startedAtMs = performance.now();
  for (let interval = 0; interval < INTERVALS; interval += 1) {
    const before = polls();
    sandbox.tick();
    await eventually(() => expect(polls()).toBeGreaterThan(before));
  }
  const intervals = (performance.now() - startedAtMs) / POLL_MS;
  expect(polls() - pollsBefore).toBeGreaterThanOrEqual(INTERVALS);
  expect(polls() - pollsBefore).toBeLessThanOrEqual(intervals + 1);

  const token = sandbox.token({ email: 'demo@example.com' });
  await eventually(async () => {
    const { data } = await app.query('{ positions { id symbol profit priceCurrent } }', { token });
    for (const watcher of watchers) expect(watcher.list).toEqual(data.positions);
  });
  // The first snapshot, then one event for each change, however many sockets there are.
  for (const { events } of watchers) expect(events.length).toBeLessThanOrEqual(INTERVALS + 1);

  await Promise.all(clients.map((client) => client.dispose()));
  await eventually(async () =>
    expect(await seriesValue(app, 'subscriptions{list="positions"}')).toBe(0),
  );
});

test('queries read the running feed while it is younger than a poll, by a proved token', async () => {
  // So long that no poll falls due.
  const times = { POSITIONS_POLL_MS: '86400000', POSITIONS_POLL_MAX_MS: '86400000' };
  await using app = await startTestApp(times);
  const tokenOf = () => app.sandbox.token({ email: 'demo@example.com' });
  const token = tokenOf();
  await using client = webSocketClient(app, token);
  const watcher = client.watch();
  await eventually(() => watcher.last !== undefined, watcher.whileOpen);
  app.sandbox.clearCalls();
  app.sandbox.tick();
  const { data, extensions } = await app.query('{ positions { id profit } }', { token });
  expect(data.positions).toHaveLength(6);
  for (const { id, profit } of data.positions) expect(profit).toBe(watcher.rows.get(id)?.profit);
  expect(extensions.gateway).toMatchObject([{ operation: 'getOpenPositions', source: 'shared' }]);
  expect(app.sandbox.calls('getOpenPositions')).toBe(0);
  await app.query('{ positions { id } }', { token: tokenOf() });
  expect(app.sandbox.calls('getOpenPositions')).toBe(1);
});
