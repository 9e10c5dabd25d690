import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { fakeClient } from '../../src/testing.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { cutLine } from '../support/cut-line.ts';
import { CHANGES, Events } from '../support/events.ts';

const SLOW_HANDSHAKE_MS = 3_000;
// Back-off is hurried; watchdogs, handshakes and requests keep their time.
const HURRIED = (changed = {}) =>
  countedEnvironment({
    hurry: (ms) => (ms < 10_000 && ms !== SLOW_HANDSHAKE_MS ? Math.min(ms, 20) : ms),
    ...changed,
  });

// A subscription ends with an error where no list has come by then.
const { app, open } = cutLine({ GATEWAY_TIMEOUT_MS: '3000' });

describe.each([
  ['a WebSocket', {}],
  ['an event stream', { WebSocket: null }],
])('over %s', (_name, platform) => {
  test('events come, and nothing is left of it afterwards', async () => {
    using core = open({ environment: HURRIED(platform) });
    const events = new Events();
    const leave = core.subscribe(CHANGES, events.variables, events);
    await eventually(() => events.results.length > 0);
    expect(events.results[0]?.data?.positionChanges).toMatchObject({
      snapshot: true,
      status: 'LIVE',
    });
    app.sandbox.tick();
    await eventually(() => expect(events.results.length).toBeGreaterThan(1));
    expect(events.line).toEqual(['connected']);
    leave();
    leave();
    expect(core.countedEnvironment.pending).toBe(0);
    expect(events.end).toBeUndefined();
  });
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
  // A stream is tried beside a handshake that hangs; it ends with the client.
  market.network.handshake = 'silence';
  client.positions(() => {});
  await market.pass(2);
  market.network.reach = 'dead';
  await market.pass(2);
  client.dispose();
  await market.pass(0);
  expect(market.network.pending).toBe(0);
});

test('a platform that prefers event streams returns to them after an outage, unless they do not open any more', async () => {
  const environment = { prefersStreams: true };
  const { client, market } = fakeClient({ positions: [{ id: '1' }], client: { environment } });
  client.positions(() => {});
  const outage = async () => {
    await market.cut();
    await market.pass(10);
    await market.heal();
    await market.pass(1);
    expect(client.positions.state().status).toBe('LIVE');
    return market.subscriptions.at(-1)?.over;
  };
  await market.pass(1);
  expect([await outage(), await outage()]).toEqual(['stream', 'stream']);
  market.network.hasStreams = false;
  expect(await outage()).toBe('socket');
  client.dispose();
});

test('event streams that a proxy opens and keeps say why nothing comes, and give way to sockets', async () => {
  const environment = { prefersStreams: true };
  const { client, market } = fakeClient({ positions: [{ id: '1' }], client: { environment } });
  const subscribed = market.subscribed.bind(market);
  market.subscribed = (each) => each.over === 'socket' && subscribed(each);
  client.positions(() => {});
  await market.pass(26);
  expect(client.positions.state()).toMatchObject({ status: 'OFFLINE', error: { code: 'NETWORK' } });
  await market.pass(60);
  expect(client.positions.state()).toMatchObject({ status: 'LIVE', error: null });
  client.dispose();
});

test('a subscription that the app leaves while all change lines takes no line, and the others can still be paused', async () => {
  const environment = { prefersStreams: true };
  const { client, market } = fakeClient({ positions: [{ id: '1' }], client: { environment } });
  const { network } = market;
  let disconnected = () => {};
  const sink = { next() {}, ended() {}, disconnected: () => disconnected() };
  const [leaveOne, leaveOther] = [1, 2].map(() =>
    client.subscribe(CHANGES, () => ({ after: null }), sink),
  );
  await market.pass(1);
  await market.cut();
  await market.pass(10);
  disconnected = () => leaveOther?.();
  await market.heal();
  await market.pass(1);
  expect(market.subscriptions.at(-1)?.over).toBe('stream');
  expect(network.lines.size).toBe(1);
  network.hide();
  await market.pass(60);
  expect(network.lines.size).toBe(0);
  network.comeBack();
  await market.pass(1);
  expect(network.lines.size).toBe(1);
  leaveOne?.();
  await market.pass(0);
  expect(network.pending).toBe(0);
});

test('an app that subscribes again whenever its line is lost has one line, after a pause each time', async () => {
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
    for (const line of network.lines) line.cut();
    await market.pass(0);
    expect(network.tried).toBe(losses);
    await market.pass(20);
    expect([network.tried, network.lines.size]).toEqual([losses + 1, 1]);
  }
  client.dispose();
  expect(network.pending).toBe(0);
});
