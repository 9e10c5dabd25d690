import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ClientKeys } from '../../../src/domain/auth/client-key.ts';
import { steadyClock } from '../../../src/lib/clock.ts';
import { RequestSummary } from '../../../src/schema/request-summary.ts';
import type { SendBuffer } from '../../../src/server/back-pressure/send-buffer.ts';
import { SendBuffers } from '../../../src/server/back-pressure/send-buffers.ts';
import { EventStream } from '../../../src/server/http/event-stream.ts';
import { sendStream } from '../../../src/server/http/event-streams.ts';
import { eventually } from '../../support/eventually.ts';

const MEGABYTE = 1_048_576;

/** A source that makes a piece on each pull, and counts them. */
function createSource(pieceBytes: number) {
  const source = { made: 0, isLeft: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        source.made += 1;
        controller.enqueue(new Uint8Array(pieceBytes));
      },
      cancel() {
        source.isLeft = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { source, body };
}

/** SendBuffers without any other answer of the client. */
function send(response: ServerResponse, body: ReadableStream<Uint8Array>, unreadMs = 60_000): void {
  const clients = new ClientKeys({ provedLogin: () => null, acceptedClaim: () => null });
  const buffers = new SendBuffers({ maxBytes: 2 ** 30, clients, clock: steadyClock, unreadMs });
  const { socket } = response.req;
  const unread = buffers.open(socket, { caller: { token: null } });
  void sendStream(response, body, openEvents(), unread);
}

function openEvents(): EventStream {
  const summary = new RequestSummary({
    requestId: 'r',
    transport: 'sse',
    method: 'POST',
    client: null,
    bytesIn: 0,
  });
  return new EventStream({ takesPacked: false, summary });
}

async function serve(respond: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => respond(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test('a reader that stalls is waited for, and no piece is made meanwhile', async () => {
  const { source, body } = createSource(MEGABYTE);
  await using server = await serve((response) => send(response, body));
  const request = get({ port: server.port });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.pause();
  let made = 0;
  await eventually(() => {
    const isStill = source.made === made && made > 0;
    made = source.made;
    return isStill;
  });
  expect(made).toBeLessThan(50);
  answer.resume();
  await eventually(() => source.made > made + 10);
  answer.destroy();
  await eventually(() => source.isLeft);
});

test('one that reads nothing for too long is cut', async () => {
  const { source, body } = createSource(MEGABYTE);
  await using server = await serve((response) => send(response, body, 100));
  const request = get({ port: server.port });
  request.on('error', () => {});
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.on('error', () => {});
  answer.pause();
  await eventually(() => source.isLeft);
});

test('a source is cancelled where its reader disconnects before the first piece', async () => {
  const { source, body } = createSource(1);
  const arrived = Promise.withResolvers<void>();
  await using server = await serve((response) => {
    arrived.resolve();
    response.once('close', () => send(response, body));
  });
  const request = get({ port: server.port });
  request.on('error', () => {});
  await arrived.promise;
  request.destroy();
  await eventually(() => source.isLeft);
  expect(source.made).toBe(0);
});

test('events wait for the headers, and one that comes as its stream is cut harms nobody', async () => {
  const cut = Promise.withResolvers<void>();
  await using server = await serve((response) => {
    const events = openEvents();
    let isReady = false;
    const hadRoom = events.hasRoom(() => {
      isReady = true;
    });
    events.begin(response, { hasRoom: () => true } as SendBuffer);
    expect([hadRoom, isReady, events.hasRoom(() => {})]).toEqual([false, true, true]);
    response.destroy();
    events.send('{}', cut.resolve);
  });
  const request = get({ port: server.port });
  request.on('error', () => {});
  await cut.promise;
});
