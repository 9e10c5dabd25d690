import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { heldBytes } from '../../support/heap.ts';
import { limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { stepUntil } from '../../support/steps.ts';
import { initializedSocket } from './raw-socket.ts';
import { sseClient, webSocketClient } from './watcher.ts';

const SOCKETS = 40;
const MEGABYTE = 1_048_576;

// An event of a quarter of a megabyte, so that the kernel's buffers for a reader are soon full.
const ROW =
  '{ id symbol name logo priceCurrent priceOpen profit units invested createdAt updatedAt }';
const LARGE = `subscription { positionChanges { cursor ${Array.from(
  { length: 28 },
  (_, at) => `copy${at}: upserted ${ROW}`,
).join(' ')} upserted ${ROW} status } }`;

/** Readers stall for long on a busy machine: none is cut for the time that it takes. */
const atRest = () => ({ connections: { clock: createScriptedClock(0) } });

let app: TestApp;

beforeEach(async () => {
  // Far more than an account's events may cost: these tests measure only what waits unsent.
  app = await startTestApp(
    {
      POSITIONS_POLL_MS: '150',
      MAX_COST: '100000000',
      // What is sent counts by its size as well.
      RATE_LIMIT_PER_MINUTE: '1000000',
    },
    atRest(),
  );
});
afterEach(() => app.close());

/** A reader that retains only the versions of events, and the rows of the last one. */
async function openReader(facade: TestApp, token: string) {
  const raw = await initializedSocket(facade, token);
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
  await using roomy = await startTestApp(
    {
      POSITIONS_POLL_MS: '150',
      MAX_COST: '100000000',
    },
    {
      connections: { ...atRest().connections, unreadBytes: 1024 * MEGABYTE },
      limits: limited('connections', 1_000),
      // It would repeat a version.
      heartbeatMs: 86_400_000,
    },
  );
  const token = roomy.sandbox.token({ email: 'pro@example.com' });
  const witness = webSocketClient(roomy, token).watch();
  const readers = await Promise.all(
    Array.from({ length: SOCKETS }, () => openReader(roomy, token)),
  );
  const eventBytes = readers[0]?.bytes() ?? 0;
  const before = heldBytes();
  for (const { socket } of readers) socket.pause();
  const versionOf = () => Number.parseInt(witness.last?.cursor.split('.')[0] ?? '0', 36);
  const stalledAt = versionOf();
  // More than any kernel buffers for a socket: from there on the facade buffers what is not read.
  const changes = Math.ceil((8 * MEGABYTE) / eventBytes);
  for (let change = 0; change < changes; change += 1) {
    const events = witness.events.length;
    roomy.sandbox.tick();
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

test('a client that sends ever more operations without reading is not read from until it reads', async () => {
  using raw = await initializedSocket(app);
  const answers = () => raw.messages.filter(({ type }) => type === 'next').length;
  raw.socket.pause();
  const before = heldBytes();
  // Each answer is as long as its request: together far more than may wait unsent.
  const alias = 'a'.repeat(60_000);
  const asked = 1_000;
  for (let at = 0; at < asked; at += 1) raw.subscribe(`q${at}`, `{ ${alias}: __typename }`);
  await eventually(() => expect(raw.socket.bufferedAmount).toBeGreaterThan(20 * MEGABYTE));
  let unsent = 0;
  await eventually(() => {
    const isStill = raw.socket.bufferedAmount === unsent;
    unsent = raw.socket.bufferedAmount;
    return isStill && unsent > 0;
  });
  // The bytes buffered here are the requests, which the facade no longer reads.
  expect(heldBytes() - before).toBeLessThan(unsent + 30 * MEGABYTE);
  raw.socket.resume();
  await eventually(() => answers() === asked);
  expect(raw.closed).toBeNull();
}, 300_000);

test('an event stream that stops being read buffers one event, and continues with the newest', async () => {
  const token = app.sandbox.token({ email: 'pro@example.com' });
  const witness = sseClient(app, token).watch();
  await eventually(() => witness.last !== undefined);
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream',
      // Packed, all of these events would fit into the kernel's buffers.
      'accept-encoding': 'identity',
    },
    body: JSON.stringify({ query: LARGE }),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  const before = heldBytes();
  for (let change = 0; change < 60; change += 1) {
    const events = witness.events.length;
    app.sandbox.tick();
    await eventually(() => witness.events.length > events);
  }
  expect(heldBytes() - before).toBeLessThan(5 * MEGABYTE);
  const last = witness.last?.cursor ?? '';
  let text = '';
  const decoder = new TextDecoder();
  const cursors: string[] = [];
  const read = async () => {
    const { value, done } = await reader.read();
    expect(done).toBe(false);
    text += decoder.decode(value, { stream: true });
    for (const [, cursor] of text.matchAll(/"cursor":"([^"]+)"/g)) cursors.push(cursor as string);
    text = text.slice(-40).includes('"cursor":"') ? text.slice(-200) : '';
  };
  await stepUntil(() => cursors.at(-1) === last, read, 100_000);
  expect(cursors.length).toBeLessThan(55);
  await reader.cancel();
}, 300_000);
