import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { FrameWriter } from '../../../../engine/transports/websocket/frame-writer.ts';
import { eventually } from '../../../support/eventually.ts';
import { heldBytes } from '../../../support/heap.ts';
import { listenLocally } from '../../../support/local-server.ts';
import { startedForEach } from '../../../support/started.ts';

const HEAD = '{"id":"ä","payload":';

let server: ReturnType<typeof createServer>;
const listener = startedForEach(() => {
  server = createServer();
  return listenLocally(server);
});

/** Reads with a client's `ws` what is written to the server's TCP socket. */
async function connect() {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: true });
  const upgraded = once(server, 'upgrade');
  const socket = new WebSocket(listener.url);
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  const [request, stream, head] = (await upgraded) as [never, Duplex, Buffer];
  sockets.handleUpgrade(request, stream, head, () => {});
  await once(socket, 'open');
  return { socket, stream, messages, frames: new FrameWriter(stream, HEAD) };
}

function whole(values: readonly string[]): string[] {
  return values.map((value) => `${HEAD}${value}}`);
}

test('each message is received whole, in chunks or not, at every length encoding of a frame', async () => {
  const { messages, frames } = await connect();
  const overhead = Buffer.byteLength(HEAD) + 1;
  const lengths = [125, 126, 16_380, 16_384, 65_535, 65_536, 300_000, 3_000_000];
  const values = lengths.map((length) => `"${'x'.repeat(length - overhead - 2)}"`);
  for (const value of values) {
    await new Promise<void>((resolve) => frames.write(value, resolve));
    const bytes = Buffer.from(value);
    const middle = Math.floor(bytes.length / 2);
    const chunks = [bytes.subarray(0, 1), bytes.subarray(1, middle), bytes.subarray(middle)];
    await new Promise<void>((resolve) => frames.write(chunks, resolve));
  }
  await eventually(() => expect(messages).toHaveLength(2 * lengths.length));
  expect(messages).toEqual(whole(values.flatMap((value) => [value, value])));
});

test('what a stalled reader has not taken counts, and is not overwritten by what is written for others', async () => {
  const stalled = await connect();
  const other = await connect();
  stalled.socket.pause();
  const values: string[] = [];
  let hasLeft = true;
  while (hasLeft && values.length < 5_000) {
    const value = `"${String(values.length).padStart(10_000, '.')}"`;
    values.push(value);
    hasLeft = false;
    stalled.frames.write(value, () => {
      hasLeft = true;
    });
  }
  expect(hasLeft).toBe(false);
  // It counts by its bytes, whatever its characters.
  const before = stalled.stream.writableLength;
  values.push(`"${'漢'.repeat(10_000)}"`);
  const written = stalled.frames.write(values.at(-1) ?? '', () => {
    hasLeft = true;
  });
  expect(written).toBeGreaterThan(30_000);
  expect(stalled.stream.writableLength - before).toBeGreaterThan(30_000);
  other.frames.write(`"${'!'.repeat(12_000)}"`, () => {});
  await eventually(() => expect(other.messages).toHaveLength(1));
  stalled.socket.resume();
  await eventually(() => hasLeft && stalled.messages.length === values.length);
  expect(stalled.messages).toEqual(whole(values));
});

test('a writer holds no block of Node’s pool, which others use up as well', async () => {
  const { stream } = await connect();
  const before = heldBytes();
  const writers = Array.from({ length: 500 }, () => {
    Buffer.allocUnsafe(Buffer.poolSize / 4);
    return new FrameWriter(stream, HEAD);
  });
  expect(heldBytes() - before).toBeLessThan(writers.length * 1_024);
});
