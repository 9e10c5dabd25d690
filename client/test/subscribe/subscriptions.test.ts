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

test('a connection closes with its last subscription, also after an earlier one has failed for good', async () => {
  const { client, market } = fakeClient();
  const ends: unknown[] = [];
  const follow = async () => {
    const ended = (error: unknown) => void ends.push(error);
    const leave = client.subscribe('subscription { a }', () => ({}), { next() {}, ended });
    await market.pass(0);
    return leave;
  };
  await follow();
  // The server closes the socket because a message is too large.
  market.subscriptions[0]?.cut(1009);
  await market.pass(0);
  expect(ends).toMatchObject([{ retryable: false }]);
  const leave = await follow();
  expect(market.network.connections.size).toBe(1);
  leave();
  expect(market.network.connections.size).toBe(0);
  await follow();
  client.dispose();
  expect(market.network.connections.size).toBe(0);
});
