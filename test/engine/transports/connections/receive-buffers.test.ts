import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { SendFault } from '../../../../engine/transports/connections/receive-buffer.ts';
import {
  createReceiveBuffers,
  type ReceiveBuffers,
} from '../../../../engine/transports/connections/receive-buffers.ts';
import { steadyClock } from '../../../../lib/clock.ts';
import { eventually } from '../../../support/eventually.ts';
import { listenLocally } from '../../../support/local-server.ts';
import { createScriptedClock } from '../../../support/scripted-clock.ts';

const TEXT = 0x81;
const BINARY = 0x82;
const PING = Buffer.from([0x89, 0x80, 0, 0, 0, 0]);
const UNFINISHED_MS = 30_000;
const GET = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';

function receiveBuffers(clock = steadyClock) {
  const cuts: SendFault[] = [];
  const received = createReceiveBuffers({
    unfinishedMs: UNFINISHED_MS,
    maxBytes: 1_000_000,
    clock,
    onCut: (fault) => cuts.push(fault),
  });
  return { received, cuts };
}

type Listener = ReturnType<typeof createTcpServer>;

async function listening(server: Listener): Promise<AsyncDisposable & { open(): Promise<Socket> }> {
  const { port, [Symbol.asyncDispose]: close } = await listenLocally(server);
  return {
    async open() {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    },
    [Symbol.asyncDispose]: close,
  };
}

/** A server of WebSocket frames, which it only passes on. */
function frameServer(received: ReceiveBuffers, onFrames: (socket: Socket, bytes: Buffer) => void) {
  return createTcpServer((socket) => {
    received.open(socket);
    socket.on('error', () => {});
    const watcher = { isIdle: true, arrived: () => {}, cut: () => void socket.destroy() };
    received.of(socket).upgraded(Buffer.alloc(0), watcher);
    socket.on('data', (bytes: Buffer) => onFrames(socket, bytes));
  });
}

function httpServer(received: ReceiveBuffers, onRequest?: RequestListener) {
  const server = createServer((request, response) => {
    received.of(request.socket).requestBegan(request);
    onRequest?.(request, response);
  });
  return server.on('connection', (socket) => received.open(socket));
}

/** Of one frame, as a client sends it. */
function messageOf(bytes: number, opcode = TEXT): Buffer {
  const head = Buffer.from([opcode, 0xfe, bytes >> 8, bytes & 0xff]);
  return Buffer.concat([head, Buffer.alloc(4 + bytes, 'x')]);
}

test.each(['frames', 'requests'])(
  'of %s that come in one read some are handled before another connection goes',
  async (kind) => {
    const { received } = receiveBuffers();
    const ports: (number | undefined)[] = [];
    let calm: Socket | null = null;
    const piece = kind === 'frames' ? PING : Buffer.from(GET);
    const arrived = ({ remotePort }: Socket) => {
      ports.push(remotePort);
      if (ports.length === 1) calm?.write(piece);
    };
    const server =
      kind === 'frames'
        ? frameServer(received, arrived)
        : httpServer(received, ({ socket }, response) => {
            arrived(socket);
            response.end();
          });
    await using listener = await listening(server);
    calm = await listener.open();
    const flood = await listener.open();
    flood.resume().write(Buffer.concat(Array(2_000).fill(piece)));
    await eventually(() => expect(ports).toHaveLength(2_001));
    expect(ports.indexOf(calm.localPort)).toBeLessThan(400);
  },
);

test('every byte arrives once and in its order, however often the reader pauses', async () => {
  const { received } = receiveBuffers();
  const sent = Buffer.from(Array.from({ length: 40_000 }, (_, at) => `${at};`).join(''));
  const bodies: string[] = [];
  const server = httpServer(received, async (request, response) => {
    let text = '';
    request.setEncoding('latin1');
    for await (const part of request) {
      text += part;
      if (text.length % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    bodies.push(text);
    received.of(request.socket).requestTaken(request);
    response.end('x'.repeat(200_000));
  });
  await using listener = await listening(server);
  const socket = await listener.open();
  let answered = 0;
  socket.on('data', (bytes) => {
    answered += bytes.length;
  });
  const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${sent.length}\r\n\r\n`;
  for (let round = 0; round < 4; round += 1) socket.write(Buffer.concat([Buffer.from(head), sent]));
  await eventually(() => bodies.length === 4 && answered > 800_000);
  expect(bodies.every((body) => body === sent.toString())).toBe(true);
  expect(received.bytes).toBe(0);
  socket.end();
  await once(socket, 'close');
});

test('a connection whose answers nobody reads stays paused by node, whoever resumes it', async () => {
  const { received } = receiveBuffers();
  const answer = 'x'.repeat(5_000_000);
  let requests = 0;
  let reader: Socket | null = null;
  const server = httpServer(received, ({ socket }, response) => {
    requests += 1;
    reader = socket;
    response.end(answer);
  });
  await using listener = await listening(server);
  const socket = await listener.open();
  for (const count of [1, 2]) {
    socket.write(GET);
    await eventually(() => expect(requests).toBe(count));
  }
  expect((reader as unknown as Socket).isPaused()).toBe(true);
  // Node's parser would throw at these bytes, and end the process.
  (reader as unknown as Socket).resume();
  socket.write(GET);
  let bytes = 0;
  socket.on('data', ({ length }) => {
    bytes += length;
  });
  await eventually(() => expect(bytes).toBeGreaterThan(3 * answer.length));
  expect(requests).toBe(3);
  socket.destroy();
});

test('the end of a connection comes after its last bytes', async () => {
  const { received } = receiveBuffers();
  const seen: string[] = [];
  const server = frameServer(received, (socket, bytes) => {
    if (seen.length === 0) {
      socket.pause();
      setTimeout(() => socket.resume(), 50);
      socket.once('end', () => seen.push('end'));
    }
    seen.push(String(bytes.length));
  });
  await using listener = await listening(server);
  const socket = await listener.open();
  socket.end(Buffer.concat([PING, PING, PING]));
  await eventually(() => expect(seen).toContain('end'));
  expect(seen).toEqual(['6', '6', '6', 'end']);
});

test('a head that does not arrive whole is found, and forgotten when it has, or when its connection closes', async () => {
  const { received } = receiveBuffers();
  const server = httpServer(received, (request, response) => {
    received.of(request.socket).requestTaken(request);
    response.end();
  });
  await using listener = await listening(server);
  const socket = await listener.open();
  socket.resume();
  socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx-a: ${'x'.repeat(5_000)}`);
  await eventually(() => expect(received.bytes).toBeGreaterThanOrEqual(5_000));
  expect(received.bytes).toBeLessThan(5_100);
  socket.write('\r\n\r\n');
  await eventually(() => expect(received.bytes).toBe(0));
  socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx-a: ${'x'.repeat(3_000)}`);
  await eventually(() => expect(received.bytes).toBeGreaterThanOrEqual(3_000));
  socket.destroy();
  await eventually(() => expect(received.bytes).toBe(0));
});

test('a message that does not arrive whole in 30 s is cut, and neither one that the reader holds up nor a request', async () => {
  const clock = createScriptedClock();
  const { received, cuts } = receiveBuffers(clock);
  const paused: Socket[] = [];
  const messages = frameServer(received, (socket, bytes) => {
    if (bytes[0] === BINARY) paused.push(socket.pause());
  });
  await using requestListener = await listening(httpServer(received));
  await using messageListener = await listening(messages);
  const [request, late, held] = [
    await requestListener.open(),
    await messageListener.open(),
    await messageListener.open(),
  ];
  request.write(`GET / HTTP/1.1\r\nhost: a\r\nx-a: ${'x'.repeat(3_000)}`);
  late.write(messageOf(1_000).subarray(0, 500));
  held.write(messageOf(1_000, BINARY).subarray(0, 500));
  await eventually(() => expect(received.bytes).toBeGreaterThanOrEqual(3_500));
  await clock.advance(29_000);
  expect(cuts).toEqual([]);
  await clock.advance(60_000);
  expect(cuts).toEqual(['age']);
  late.resume();
  await eventually(() => late.closed);
  expect([request.closed, held.closed]).toEqual([false, false]);
  for (const socket of paused) socket.destroy();
});
