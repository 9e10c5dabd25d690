import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { heldBytes } from '../../support/heap.ts';
import { limited } from '../../support/limits.ts';
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

const SOCKETS = 40;

// An event of a quarter of a megabyte, so that the kernel's buffers for a reader are soon full.
const ROW =
  '{ id symbol name logo priceCurrent priceOpen profit units invested createdAt updatedAt }';
const LARGE = `subscription { positionChanges { cursor ${Array.from(
  { length: 28 },
  (_, at) => `copy${at}: upserted ${ROW}`,
).join(' ')} upserted ${ROW} status } }`;

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

/** A reader that retains only the versions of events, and the rows of the last one. */
async function openReader(app: TestApp, token: string) {
  const raw = await initializedSocket(app, token);
  const versions: number[] = [];
  let bytes = 0;
  let lastText = '';
  raw.socket.removeAllListeners('message');
  raw.socket.on('message', (data) => {
    const text = String(data);
    // What has none is a ping of the server's.
    const [, version] = /"cursor":"([^.]+)/.exec(text) ?? [];
    if (version === undefined) return;
    lastText = text;
    bytes += text.length;
    versions.push(Number.parseInt(version, 36));
  });
  raw.subscribe('1', LARGE);
  await eventually(() => versions.length === 1);
  return {
    socket: raw.socket,
    versions,
    bytes: () => bytes,
    rows: () => JSON.parse(lastText).payload.data.positionChanges.upserted as { id: string }[],
  };
}

test('sockets that stop reading cost one event each, and get what they missed as one', async () => {
  // One event for each of them is more than an account may leave unread with default settings.
  await using app = await startTestApp(
    { POSITIONS_POLL_MS: '150', MAX_COST: '100000000' },
    {
      ...atRest({ unreadBytes: 1024 * MEGABYTE }),
      limits: limited('connections', 1_000),
      // It would repeat a version.
      heartbeatMs: 86_400_000,
    },
  );
  const token = app.sandbox.token({ email: 'pro@example.com' });
  const witness = webSocketClient(app, token).watch();
  const readers = await Promise.all(Array.from({ length: SOCKETS }, () => openReader(app, token)));
  const eventBytes = readers[0]?.bytes() ?? 0;
  const before = heldBytes();
  for (const { socket } of readers) socket.pause();
  const versionOf = () => Number.parseInt(witness.last?.cursor.split('.')[0] ?? '0', 36);
  const stalledAt = versionOf();
  // More than any kernel buffers for a socket: from there on the facade buffers what is not read.
  const changes = Math.ceil((8 * MEGABYTE) / eventBytes);
  for (let change = 0; change < changes; change += 1) {
    const events = witness.events.length;
    app.sandbox.tick();
    await eventually(() => witness.events.length > events);
  }
  expect(heldBytes() - before).toBeLessThan(50 * MEGABYTE);
  const last = versionOf();
  expect(last).toBeGreaterThanOrEqual(stalledAt + changes);

  for (const { socket } of readers) socket.resume();
  await eventually(() => readers.every(({ versions }) => versions.at(-1) === last));
  for (const { versions, rows } of readers) {
    // The kernel accepted some events, none twice; the rest follows merged into one.
    const steps = versions.slice(1).map((version, at) => version - (versions[at] as number));
    expect(steps.every((step) => step >= 1)).toBe(true);
    expect(steps.at(-1)).toBeGreaterThan(1);
    expect(rows()).toHaveLength(25);
  }
  expect(witness.ended).toBeNull();
  for (const { socket } of readers) socket.terminate();
}, 300_000);
