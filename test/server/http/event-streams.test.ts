import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { steadyClock } from '../../../src/lib/clock.ts';
import { addressClient } from '../../../src/lib/limits/client.ts';
import { PullStream } from '../../../src/lib/pull-stream.ts';
import { FollowedEvents } from '../../../src/plugins/live/delivery.ts';
import { SendBuffers } from '../../../src/server/back-pressure/send-buffers.ts';
import { EventStream } from '../../../src/server/http/event-stream.ts';
import { RequestSummary } from '../../../src/server/request/request-summary.ts';
import { eventually } from '../../support/eventually.ts';

const MEGABYTE = 1_048_576;
const NEVER_MS = 2 ** 30;

interface Feed {
  made: number;
  isLeft: boolean;
  isEmpty: boolean;
  readonly events: PullStream<unknown>;
}

/** So that a reader that is not waited for takes no more than this. */
const MOST_EVENTS = 200;

/** A feed that has an event whenever it is asked for one, and counts them. */
function createFeed(eventBytes: number): Feed {
  const feed = {
    made: 0,
    isLeft: false,
    isEmpty: false,
    events: new PullStream<unknown>({
      open: () => {},
      take: () => {
        if (feed.isEmpty || feed.made === MOST_EVENTS) return undefined;
        feed.made += 1;
        return 'x'.repeat(eventBytes);
      },
      close: () => {
        feed.isLeft = true;
      },
    }),
  };
  // The reader pulls the next event when the one before has left; nothing else wakes it.
  return feed;
}

interface Times {
  readonly unreadMs?: number;
  readonly pingMs?: number;
}

/** The events without an engine, sent without any other answer of the client. */
function send(
  response: ServerResponse,
  feed: Feed,
  { unreadMs = 60_000, pingMs = NEVER_MS }: Times = {},
): Promise<void> {
  const buffers = new SendBuffers({
    maxBytes: 2 ** 30,
    clientOf: ({ client }) => addressClient(client?.address),
    clock: steadyClock,
    unreadMs,
  });
  const stream = new EventStream({
    response,
    unread: buffers.open(response.req.socket, { caller: { token: null } }),
    takesPacked: false,
    summary: new RequestSummary({
      requestId: 'r',
      transport: 'sse',
      method: 'POST',
      client: null,
      bytesIn: 0,
      trace: null,
    }),
    pingMs,
  });
  const followed = new FollowedEvents(feed.events, {
    text: (event) => {
      feed.events.wake();
      return String(event);
    },
    failure: () => null,
    ended: () => {},
  });
  return stream.carry(followed);
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

test('a reader that stalls is waited for, and no event is made meanwhile', async () => {
  const feed = createFeed(MEGABYTE);
  await using server = await serve((response) => void send(response, feed));
  const request = get({ port: server.port });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.pause();
  let made = 0;
  await eventually(() => {
    const isStill = feed.made === made && made > 0;
    made = feed.made;
    return isStill;
  });
  expect(made).toBeLessThan(50);
  answer.resume();
  await eventually(() => feed.made > made + 10);
  answer.destroy();
  await eventually(() => feed.isLeft);
});

test('nor is such a reader pinged', async () => {
  const feed = createFeed(MEGABYTE);
  const sent: Buffer[] = [];
  const pinged = () => sent.filter((bytes) => bytes.length === 3).length;
  await using server = await serve((response) => {
    const write = response.write.bind(response) as (bytes: Buffer, done: () => void) => boolean;
    response.write = ((bytes: Buffer, done: () => void) => {
      sent.push(bytes);
      return write(bytes, done);
    }) as typeof response.write;
    void send(response, feed, { pingMs: 5 });
  });
  const request = get({ port: server.port });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.pause();
  let known = -1;
  await eventually(async () => {
    known = sent.length;
    await delay(100);
    return sent.length === known && feed.made > 0;
  });
  const before = pinged();
  feed.isEmpty = true;
  answer.resume();
  // A reader that has read everything is.
  await eventually(() => pinged() > before + 2);
  answer.destroy();
  await eventually(() => feed.isLeft);
  const last = pinged();
  await delay(50);
  expect(pinged()).toBe(last);
});

test('one that reads nothing for too long is cut', async () => {
  const feed = createFeed(MEGABYTE);
  await using server = await serve((response) => void send(response, feed, { unreadMs: 100 }));
  const request = get({ port: server.port });
  request.on('error', () => {});
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  answer.on('error', () => {});
  answer.pause();
  await eventually(() => feed.isLeft);
});

test('a feed is left where its reader disconnects before the first event', async () => {
  const feed = createFeed(1);
  const arrived = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  await using server = await serve((response) => {
    arrived.resolve();
    response.once('close', () => send(response, feed).then(ended.resolve, ended.reject));
  });
  const request = get({ port: server.port });
  request.on('error', () => {});
  await arrived.promise;
  request.destroy();
  await ended.promise;
  expect(feed.events.isEnded).toBe(true);
  expect(feed.made).toBe(0);
});
