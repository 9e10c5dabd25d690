import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { createSendBuffers } from '../../../engine/back-pressure/send-buffers.ts';
import { addressClient } from '../../../lib/limits/client.ts';
import {
  askAndStall,
  cuts,
  MEGABYTE,
  openSlowReader,
  UNTAKEN_BYTES,
  unreadBytes,
} from '../../end-to-end/limits/slow-reader.ts';
import { initializedSocket } from '../../end-to-end/live/raw-socket.ts';
import { eventually } from '../../support/eventually.ts';
import { extendedSchema } from '../../support/extended-schema.ts';
import { listenLocally } from '../../support/local-server.ts';
import { createScriptedClock } from '../../support/scripted-clock.ts';
import { sharedApp } from '../../support/shared-app.ts';

const UNREAD_MS = 800;

const untaken = 'a'.repeat(UNTAKEN_BYTES);
// Each character has six bits of entropy, so that compression leaves as many bytes as these.
const unlike = randomBytes(8 * MEGABYTE).toString('base64url');
/** Answers that are long, to questions that are not. */
const schema = extendedSchema(['Query', 'Catalog', 'PositionChanges'], {
  long: { sharing: 'group', read: () => untaken },
  unlike: { sharing: 'group', read: () => unlike },
});

describe('a reader that reads nothing is cut, and its buffers are released', () => {
  const app = sharedApp(
    { RATE_LIMIT_PER_MINUTE: '1000000' },
    { schema, connections: { unreadMs: UNREAD_MS } },
  );
  let token: string;
  beforeEach(() => {
    token = app.sandbox.token({ email: 'demo@example.com' });
  });

  const LONG = 'longText';

  async function schemas(): Promise<Disposable> {
    const reader = await openSlowReader(app.url);
    reader.socket.write('GET /schema.graphql HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(400));
    return reader;
  }

  async function stalledSocket(query: string): Promise<Disposable> {
    const raw = await initializedSocket(app, token);
    raw.socket.pause();
    raw.subscribe('1', query);
    return raw;
  }

  const asked = (query: string, headers: Record<string, string> = {}) =>
    askAndStall(app, query, { token, headers });
  const live = `subscription { positionChanges { ${LONG} } }`;

  test.each([
    ['a whole answer', () => asked(`{ ${LONG} }`)],
    ['a compressed answer', () => asked('{ unlikeText }', { 'accept-encoding': 'gzip' })],
    ['an answer made of the catalog', () => asked(`{ catalog { version ${LONG} } }`)],
    [
      'an answer to an unusual request',
      () => asked(`{ ${LONG} }`, { accept: 'application/json;q=0.9' }),
    ],
    ['an event stream', () => asked(live, { accept: 'text/event-stream' })],
    ['the schema', schemas],
    ['a WebSocket, to a query', () => stalledSocket(`{ ${LONG} }`)],
    ['a WebSocket, to a subscription', () => stalledSocket(live)],
  ])(
    '%s',
    async (_way, open) => {
      const before = await cuts(app, 'idle');
      using _reader = await open();
      // To compress so many bytes takes a busy machine long.
      await eventually(async () => (await cuts(app, 'idle')) === before + 1, { withinMs: 120_000 });
      expect(await unreadBytes(app)).toBe(0);
    },
    180_000,
  );
});

/** Opens both ends of a connection for a single large write, with the SendBuffers that bound it. */
async function openWrite(bytes: number) {
  const clock = createScriptedClock();
  const reasons: string[] = [];
  const buffers = createSendBuffers({
    maxBytes: 1024 * MEGABYTE,
    clientOf: ({ client }) => addressClient(client?.address),
    clock,
    onCut: (reason) => reasons.push(reason),
  });
  const server = createServer();
  const { port, [Symbol.asyncDispose]: close } = await listenLocally(server);
  const connected = once(server, 'connection');
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  const [socket] = (await connected) as [Socket];
  socket.write(Buffer.alloc(bytes));
  buffers.open(socket, { caller: { token: null } }).measure();
  return {
    clock,
    reasons,
    buffers,
    /** Reads until so many bytes have been received in total. */
    async readTo(total: number) {
      client.removeAllListeners('data');
      client.on('data', () => client.bytesRead >= total && client.pause());
      client.resume();
      await eventually(() => client.bytesRead >= total);
    },
    [Symbol.asyncDispose]: close,
  };
}

test('a reader has 30 s for its next byte, however large the write is', async () => {
  await using write = await openWrite(96 * MEGABYTE);
  const { clock, reasons, buffers } = write;
  for (let step = 1; step <= 3; step += 1) {
    await clock.advance(29_000);
    expect(reasons).toEqual([]);
    // Far more than the kernel buffers: it must have accepted bytes of the write.
    await write.readTo(step * 24 * MEGABYTE);
  }
  await clock.advance(29_000);
  expect(reasons).toEqual([]);
  expect(buffers.bytes).toBe(96 * MEGABYTE);
  await clock.advance(3_000);
  expect(reasons).toEqual(['idle']);
  expect(buffers.bytes).toBe(0);
});
