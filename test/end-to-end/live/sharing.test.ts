import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { seriesValue } from '../operations/scraped.ts';
import { LIST, sseClient, type Watcher, webSocketClient } from './watcher.ts';

const POLL_MS = 200;
const INTERVALS = 6;

/** Opens five sockets with six subscriptions each and ten event streams: both views, three devices. */
function fortyWatchers(app: TestApp) {
  const tokens = [1, 2, 3].map(() => app.sandbox.token({ email: 'demo@example.com' }));
  const token = (at: number) => tokens[at % tokens.length] as string;
  const sockets = Array.from({ length: 5 }, (_, at) => webSocketClient(app, token(at)));
  const streams = Array.from({ length: 10 }, (_, at) => sseClient(app, token(at)));
  const watchers: Watcher[] = [
    ...sockets.flatMap((client) => [1, 2, 3].map(() => client.watch())),
    ...sockets.flatMap((client) => [1, 2, 3].map(() => client.watch({}, LIST))),
    ...streams.map((client, at) => client.watch({}, at % 2 === 0 ? LIST : undefined)),
  ];
  const disposeAll = () => Promise.all([...sockets, ...streams].map((client) => client.dispose()));
  return { watchers, disposeAll };
}

test('forty watchers of one account, on both transports, share one poll and see the same', async () => {
  await using app = await startTestApp({ POSITIONS_POLL_MS: String(POLL_MS) });
  const { sandbox } = app;
  const polls = () => sandbox.calls('getOpenPositions');
  const { watchers, disposeAll } = fortyWatchers(app);
  await eventually(() => watchers.every(({ list }) => list.length === 6));

  const pollsBefore = polls();
  const startedAtMs = performance.now();
  for (let interval = 0; interval < INTERVALS; interval += 1) {
    const before = polls();
    sandbox.tick();
    await eventually(() => polls() > before);
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

  await disposeAll();
  await eventually(async () => (await seriesValue(app, 'subscriptions')) === 0);
});
