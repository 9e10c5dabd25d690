import { expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { fakeClient } from '../../src/testing.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { CHANGES, Events } from '../support/events.ts';

// Shortens back-off; watchdogs, handshakes and requests keep their time.
const hurriedEnvironment = (changed = {}) =>
  countedEnvironment({ hurry: (ms) => (ms < 10_000 ? Math.min(ms, 20) : ms), ...changed });

// A subscription ends with an error if no list has arrived within this timeout.
const { app, open } = cutLine({ GATEWAY_TIMEOUT_MS: '3000' });

test('events arrive until the subscription ends, and then nothing stays open', async () => {
  using core = open({ environment: hurriedEnvironment() });
  const events = new Events();
  const leave = core.subscribe(CHANGES, events.variables, events);
  await eventually(() => events.results.length > 0);
  expect(events.results[0]?.data?.positionChanges).toMatchObject({
    snapshot: true,
    status: 'LIVE',
  });
  app.sandbox.tick();
  await eventually(() => expect(events.results.length).toBeGreaterThan(1));
  expect(events.connections).toEqual(['connected']);
  leave();
  leave();
  expect(core.countedEnvironment.pending).toBe(0);
  expect(events.end).toBeUndefined();
});

test('nothing stays open for subscriptions that could not begin, or that the server has ended', async () => {
  const { client, market } = fakeClient();
  const ended: unknown[] = [];
  const sink = { next() {}, ended: (error: unknown) => void ended.push(error) };
  client.subscribe('subscription { a }', () => ({ of: Number.NaN }), sink);
  await market.pass(0);
  expect(ended).toMatchObject([{ code: 'BAD_USER_INPUT', extensions: { argument: 'of' } }]);
  expect(market.network.pending).toBe(0);
  client.subscribe('subscription { a }', () => ({}), sink);
  await market.pass(0);
  market.subscriptions[0]?.end([{ message: 'no', extensions: { code: 'FORBIDDEN' } }]);
  await market.pass(0);
  expect(ended).toMatchObject([{}, { code: 'FORBIDDEN' }]);
  expect(market.network.pending).toBe(0);
  // The connection is still being opened when the client is disposed.
  market.network.handshake = 'silence';
  client.positions(() => {});
  await market.pass(2);
  market.network.reach = 'dead';
  await market.pass(2);
  client.dispose();
  await market.pass(0);
  expect(market.network.pending).toBe(0);
});

test('an app that subscribes again after each lost connection opens one connection, after a pause', async () => {
  const { client, market } = fakeClient();
  const { network } = market;
  const subscribe = (disconnected: () => void): void =>
    void client.subscribe(CHANGES, () => ({ after: null }), {
      next() {},
      ended() {},
      disconnected,
    });
  subscribe(() => subscribe(() => {}));
  await market.pass(0);
  for (let losses = 1; losses <= 3; losses += 1) {
    for (const connection of network.connections) connection.cut();
    await market.pass(0);
    expect(network.tried).toBe(losses);
    await market.pass(20);
    expect([network.tried, network.connections.size]).toEqual([losses + 1, 1]);
  }
  client.dispose();
  expect(network.pending).toBe(0);
});
