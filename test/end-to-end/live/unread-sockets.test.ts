import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import {
  askAndStall,
  LONG_QUESTIONS,
  longField,
  MEGABYTE,
  ROOMY,
  UNTAKEN_BYTES,
  unreadBytes,
} from '../limits/slow-reader.ts';
import { initializedSocket } from './raw-socket.ts';
import { webSocketClient } from './watcher.ts';

/** Readers stall for long on a busy machine: none is cut for the time that it takes. */
const atRest = (bytes: { readonly unreadBytes?: number } = {}) => ({
  connections: { ...ROOMY, ...bytes, clock: createScriptedClock(0) },
});

test('a socket that does not read its pongs is not read from', async () => {
  // What it sends counts by its size, and is not what is tried here.
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1000000' }, atRest());
  using raw = await initializedSocket(app);
  raw.socket.pause();
  const pings = 1_000;
  const ping = JSON.stringify({ type: 'ping', payload: { filler: 'x'.repeat(60_000) } });
  for (let at = 0; at < pings; at += 1) raw.say(ping);
  await eventually(async () => (await unreadBytes(app)) > MEGABYTE);
  let unsent = -1;
  await eventually(async () => {
    const wasUnsent = unsent;
    expect(await unreadBytes(app)).toBeLessThan(1.5 * MEGABYTE);
    unsent = raw.socket.bufferedAmount;
    return unsent === wasUnsent;
  });
  expect(unsent).toBeGreaterThan(20 * MEGABYTE);
  raw.socket.resume();
  const pongs = () => raw.messages.filter(({ type }) => type === 'pong').length;
  await eventually(() => pongs() === pings);
  expect(raw.closed).toBeNull();
});

test('an operation is not begun on a socket that has not read its earlier answers', async () => {
  await using app = await startTestApp(LONG_QUESTIONS, atRest({ unreadBytes: 1024 * MEGABYTE }));
  const token = app.sandbox.token({ email: 'demo@example.com' });
  using raw = await initializedSocket(app, token);
  using other = await initializedSocket(app, token);
  raw.socket.pause();
  // Within the account's limit of unread bytes, and beyond the socket's.
  raw.subscribe('long', `{ ${longField(1.5 * UNTAKEN_BYTES)} }`);
  await eventually(async () => (await unreadBytes(app)) > UNTAKEN_BYTES);
  raw.subscribe('next', '{ customerId }');
  other.subscribe('1', '{ session { login } }');
  expect((await other.until('1', 'next')).payload.errors).toBeUndefined();
  expect(app.sandbox.calls('getCustomerId')).toBe(0);
  raw.socket.resume();
  expect((await raw.until('next', 'next')).payload.errors).toBeUndefined();
  expect(app.sandbox.calls('getCustomerId')).toBe(1);
});

test('while an account does not read its answers its events are merged, and resume afterwards', async () => {
  await using app = await startTestApp({ ...LONG_QUESTIONS, POSITIONS_POLL_MS: '100' }, atRest());
  const token = app.sandbox.token({ email: 'pro@example.com' });
  const other = app.sandbox.token({ email: 'demo@example.com' });
  const watcher = webSocketClient(app, token).watch();
  const bystander = webSocketClient(app, other).watch();
  await eventually(() => watcher.last !== undefined && bystander.last !== undefined);
  using stalled = await askAndStall(app, `{ ${longField(UNTAKEN_BYTES)} }`, { token });
  await eventually(async () => (await unreadBytes(app)) > UNTAKEN_BYTES);
  const before = watcher.events.length;
  for (let change = 0; change < 5; change += 1) {
    const seen = bystander.events.length;
    app.sandbox.tick();
    await eventually(() => bystander.events.length > seen);
  }
  expect(watcher.events.length).toBe(before);
  stalled.socket.resume();
  await eventually(() => watcher.events.length > before);
  expect(watcher.ended).toBeNull();
});
