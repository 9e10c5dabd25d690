import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  acceptedBytes,
  isPausedByNode,
  type MessageUnpacker,
  replaceUnpacker,
} from '../../src/server/private-fields.ts';
import { eventually } from '../support/eventually.ts';

const LARGE = 16 * 1024 * 1024;

/** A server on a free port, and a connection whose client reads nothing until it is told to. */
async function unread(server: Server) {
  const stack = new DisposableStack();
  stack.defer(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  stack.defer(() => client.destroy());
  const [socket] = (await once(server, 'connection')) as [Socket];
  stack.defer(() => socket.destroy());
  return { client, socket, [Symbol.dispose]: () => stack.dispose() };
}

test('Node counts what the kernel has accepted of a write that is not read', async () => {
  using connection = await unread(createServer());
  const { client, socket } = connection;
  socket.write(Buffer.alloc(LARGE));
  await eventually(() => acceptedBytes(socket) > 0);
  expect(acceptedBytes(socket)).toBeLessThan(LARGE);
  client.resume();
  await eventually(() => acceptedBytes(socket) === LARGE);
});

test('Node marks a connection whose answers are not read, once another request comes', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    // The first bytes of a second answer would have Node read on.
    if (requests === 1) response.write(Buffer.alloc(LARGE));
  });
  using connection = await unread(server);
  const { client, socket } = connection;
  const request = 'GET / HTTP/1.1\r\nhost: here\r\n\r\n';
  client.write(request);
  await eventually(() => requests === 1);
  expect(isPausedByNode(socket)).toBe(false);
  client.write(request);
  await eventually(() => isPausedByNode(socket));
});

test('ws has one unpacker for each socket, and calls what replaces it', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  using stack = new DisposableStack();
  stack.defer(() => server.close());
  await once(server, 'listening');
  const webSockets = new WebSocketServer({ server, perMessageDeflate: { threshold: 0 } });
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: { threshold: 0 } });
  stack.defer(() => client.terminate());
  const [socket] = (await once(webSockets, 'connection')) as [WebSocket];
  stack.defer(() => socket.terminate());
  let unpacked = 0;
  replaceUnpacker(socket, (own) => ({
    decompress(data, isLast, done) {
      unpacked += 1;
      own.decompress(data, isLast, done);
    },
    cleanup: () => own.cleanup(),
  }));
  if (client.readyState !== client.OPEN) await once(client, 'open');
  client.send('a text');
  const [message] = await once(socket, 'message');
  expect(String(message)).toBe('a text');
  expect(unpacked).toBe(1);
});

test('a version without the fields loses no more than what each is for', () => {
  const bare = {} as Socket & WebSocket;
  expect(acceptedBytes(bare)).toBe(0);
  expect(acceptedBytes({ _handle: { bytesWritten: 5 } } as unknown as Socket)).toBe(0);
  expect(acceptedBytes({ _handle: null } as unknown as Socket)).toBe(0);
  expect(isPausedByNode(bare)).toBe(false);
  const replaced: MessageUnpacker[] = [];
  const replacement = (own: MessageUnpacker) => {
    replaced.push(own);
    return own;
  };
  replaceUnpacker(bare, replacement);
  replaceUnpacker({ _extensions: {} } as unknown as WebSocket, replacement);
  expect(replaced).toEqual([]);
});
