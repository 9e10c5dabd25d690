import { expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { LIST, sseClient, VIEWS, webSocketClient } from './watcher.ts';

const HEARTBEAT_MS = 3_000;

// The feed's own tests show, on a clock of theirs, that 15 seconds are kept without this option.
test('in a market that stands still an event comes with each heartbeat, on both views and transports', async () => {
  await using app = await startTestApp({}, { heartbeatMs: HEARTBEAT_MS });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const clients = [webSocketClient(app, token), sseClient(app, token)];
  const changes = clients.flatMap((client) => VIEWS.map(([, view]) => client.watch({}, view)));
  const lists = clients.map((client) => client.watch({}, LIST));
  const allReceived = (count: number) =>
    changes.every(({ events }) => events.length >= count) &&
    lists.every(({ lists: received }) => received.length >= count);
  await eventually(() => allReceived(2));
  for (const { events, list } of changes) {
    const [first, beat] = events;
    expect(beat).toMatchObject({ snapshot: false, upserted: [], opened: [], closed: [] });
    expect(beat?.cursor).toBe(first?.cursor);
    // The list is unchanged, and confirmed by each poll in between.
    expect(Date.parse(beat?.asOf ?? '')).toBeGreaterThan(Date.parse(first?.asOf ?? '') + 1_000);
    expect(list).toHaveLength(6);
  }
  for (const client of clients) client.dispose();
});

test('while the feed is delayed the events repeat it, and `asOf` stands still', async () => {
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { heartbeatMs: 1_500 });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const client = webSocketClient(app, token);
  const watcher = client.watch();
  await eventually(() => watcher.last !== undefined);
  app.sandbox.fail({ operation: 'getOpenPositions', kind: 'status', status: 500 });
  await eventually(() => watcher.last?.status === 'DELAYED');
  const delayed = watcher.events.length;
  await eventually(() => watcher.events.length > delayed);
  expect(watcher.last).toEqual(watcher.events[delayed - 1]);
  client.dispose();
});

test('an event stream’s headers are sent immediately, before there is any event', async () => {
  const clock = createScriptedClock(Date.now());
  await using gateway = await startSandbox({ clock, tickMs: 0 });
  await using app = await startTestApp({ POSITIONS_POLL_MS: '100' }, { gateway });
  // The gateway answers only after the headers are here.
  gateway.fail({ operation: 'getOpenPositions', kind: 'delay', delayMs: 1_000, times: 1 });
  const token = gateway.token({ email: 'demo@example.com' });
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'accept-encoding': 'gzip, br',
    },
    body: JSON.stringify({ query: 'subscription { positionChanges { cursor } }' }),
  });
  expect(response.status).toBe(200);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': expect.stringMatching(/^text\/event-stream/),
    'cache-control': 'no-store',
    vary: 'Authorization, Accept, Accept-Encoding, Origin',
    'x-accel-buffering': 'no',
    'content-encoding': 'gzip',
  });
  await eventually(() => gateway.calls('getOpenPositions') === 1);
  await clock.advance(1_000);
  await eventually(() => gateway.calls('getOpenPositions') > 1);
  gateway.revoke({ token });
  const text = await response.text();
  expect(text).toContain('event: next\ndata: {"data":{"positionChanges":{"cursor"');
  expect(text).toContain('event: next\ndata: {"errors":[{"message"');
  expect(text).toContain('UNAUTHENTICATED');
  expect(text.endsWith('event: complete\ndata:\n\n')).toBe(true);
});
