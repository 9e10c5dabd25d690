import { expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { heldBytes } from '../../support/heap.ts';
import { limited } from '../../support/limits.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { initializedSocket } from './raw-socket.ts';
import { webSocketClient } from './watcher.ts';

const SOCKETS = 40;
const MEGABYTE = 1_048_576;

// An event of a quarter of a megabyte, so that the kernel's buffers for a reader are soon full.
const ROW =
  '{ id symbol name logo priceCurrent priceOpen profit units invested createdAt updatedAt }';
const LARGE = `subscription { positionChanges { cursor ${Array.from(
  { length: 28 },
  (_, at) => `copy${at}: upserted ${ROW}`,
).join(' ')} upserted ${ROW} status } }`;

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
      // Readers stall for long on a busy machine: none is cut for the time that it takes.
      connections: { clock: createScriptedClock(0), unreadBytes: 1024 * MEGABYTE },
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
