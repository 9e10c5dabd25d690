import { expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import {
  LONG_ANSWERS,
  longField,
  MEGABYTE,
  ROOMY,
  UNTAKEN_BYTES,
  unreadBytes,
} from '../limits/slow-reader.ts';
import { initializedSocket } from './raw-socket.ts';
import { webSocketClient } from './watcher.ts';

// Each event has a quarter of a megabyte, so that few events fill the kernel's buffers. No heartbeat arrives during a test.
const ROW =
  '{ id symbol name logo priceCurrent priceOpen profit units invested createdAt updatedAt }';
const COPIES = Array.from({ length: 28 }, (_, index) => `copy${index}: upserted ${ROW}`).join(' ');
const LARGE = `subscription {
  positionChanges(heartbeatSeconds: 60) { cursor ${COPIES} upserted ${ROW} status }
}`;

/** Limits with which a socket that does not read is not closed during a test. */
const patient = { connections: { ...ROOMY, unreadMs: 600_000, pingMs: 600_000 } };

test('the server does not read from a socket that does not read its pongs', async () => {
  // The limit of received bytes must not interfere.
  await using app = await startTestApp({ RATE_LIMIT_PER_MINUTE: '1000000' }, patient);
  using raw = await initializedSocket(app);
  raw.socket.pause();
  const pings = 1_000;
  const ping = JSON.stringify({ type: 'ping', payload: { filler: 'x'.repeat(60_000) } });
  for (let sent = 0; sent < pings; sent += 1) raw.send(ping);
  await eventually(async () => expect(await unreadBytes(app)).toBeGreaterThan(MEGABYTE / 5));
  // Waits until the server takes no more bytes from the client.
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
  await eventually(() => expect(pongs()).toBe(pings));
  expect(raw.closed).toBeNull();
});

test('an operation does not begin on a socket that has not read its earlier answers', async () => {
  await using app = await startTestApp(LONG_ANSWERS, patient);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  using raw = await initializedSocket(app, token);
  using other = await initializedSocket(app, token);
  raw.socket.pause();
  // This answer has more unread bytes than a socket may have before its next operation, but fewer than an account may have.
  raw.subscribe('long', `{ ${longField(1.5 * UNTAKEN_BYTES)} }`);
  await eventually(async () => expect(await unreadBytes(app)).toBeGreaterThan(UNTAKEN_BYTES));
  raw.subscribe('next', '{ customerId }');
  other.subscribe('1', '{ session { login } }');
  expect((await other.until('1', 'next')).payload.errors).toBeUndefined();
  expect(app.sandbox.calls('getCustomerId')).toBe(0);
  raw.socket.resume();
  expect((await raw.until('next', 'next')).payload.errors).toBeUndefined();
  expect(app.sandbox.calls('getCustomerId')).toBe(1);
});

test('a socket that stops reading gets the missed changes as one event', async () => {
  await using app = await startTestApp(
    { POSITIONS_POLL_MS: '100', MAX_COST: '100000000' },
    // One event exceeds the default limit of an account's unread bytes.
    patient,
  );
  const token = app.sandbox.token({ email: 'pro@example.com' });
  await using client = webSocketClient(app, token);
  // This client reads all events.
  const witness = client.watch();
  using raw = await initializedSocket(app, token);
  const eventBytes = JSON.stringify(await raw.watch('1', LARGE)).length;
  raw.socket.pause();
  for (let bytes = 0; bytes < UNTAKEN_BYTES; bytes += eventBytes) {
    const before = witness.events.length;
    app.sandbox.tick();
    await eventually(() => witness.events.length > before, witness.whileOpen);
  }
  const unread = await unreadBytes(app);
  expect(unread).toBeGreaterThan(0);
  expect(unread).toBeLessThan(2 * eventBytes);

  raw.socket.resume();
  // A cursor begins with the version in base 36.
  const versionOf = (cursor = '') => Number.parseInt(cursor, 36);
  const events = () => raw.messagesOf('1').map(({ payload }) => payload.data.positionChanges);
  const last = versionOf(witness.last?.cursor);
  await eventually(() => expect(versionOf(events().at(-1).cursor)).toBe(last));
  const versions = events().map(({ cursor }) => versionOf(cursor));
  // The kernel's buffers hold some events. All later changes arrive as one event, and no version arrives twice.
  const steps = versions.slice(1).map((version, index) => version - (versions[index] as number));
  expect(steps.every((step) => step >= 1)).toBe(true);
  expect(steps.at(-1)).toBeGreaterThan(1);
  expect(events().at(-1).upserted).toHaveLength(25);
});
