import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { heldBytes } from '../../support/heap.ts';
import { rawResponse } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket, openSocket, type RawSocket } from '../live/raw-socket.ts';
import { CHANGES } from '../live/watcher.ts';
import { seriesValue } from '../operations/scraped.ts';

const MEGABYTE = 1_048_576;

// No ping is sent during the tests: its failed write would end the stream of a client that has left.
const NEVER_MS = 86_400_000;

const app = sharedApp(
  { POSITIONS_POLL_MS: '100', RATE_LIMIT_PER_MINUTE: '1000000' },
  { connections: { pingMs: NEVER_MS } },
);
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});

test('only the token of connection_init is retained for the socket’s lifetime', async () => {
  const sockets: RawSocket[] = [];
  const before = heldBytes();
  for (let opened = 0; opened < 150; opened += 1) {
    const raw = await openSocket(app);
    const padding = `${opened} ${'x'.repeat(240_000)}`;
    raw.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}`, padding } });
    await once(raw.socket, 'message');
    sockets.push(raw);
  }
  // Together the paddings have 36 million bytes.
  expect((heldBytes() - before) / MEGABYTE).toBeLessThan(15);
  const last = sockets.at(-1) as RawSocket;
  last.subscribe('1', '{ session { login } }');
  expect((await last.until('1', 'next')).payload.data).toEqual({ session: { login: '700001' } });
  for (const raw of sockets) raw[Symbol.dispose]();
});

test('subscriptions that begin and end do not leak memory', async () => {
  using raw = await initializedSocket(app, token);
  const beginAndEnd = async (times: number) => {
    for (let count = 0; count < times; count += 1) {
      raw.subscribe(`${count}`, 'subscription { positionChanges { cursor } }');
      raw.send({ id: `${count}`, type: 'complete' });
      // Now and then waits until the service has read everything.
      if (count % 20 === 0) {
        raw.subscribe('query', '{ __typename }');
        await raw.until('query', 'complete');
        raw.messages.length = 0;
      }
    }
    await eventually(async () => expect(await seriesValue(app, 'subscriptions')).toBe(0));
    raw.messages.length = 0;
  };
  await beginAndEnd(300);
  const before = heldBytes();
  await beginAndEnd(1_500);
  expect((heldBytes() - before) / MEGABYTE).toBeLessThan(5);
  await raw.watch('last');
});

test('event streams whose clients disconnect while the feed is quiet release the memory of their requests', async () => {
  // A heartbeat would end the stream of a client that has left, like a ping.
  const query =
    'subscription ($after: String) { positionChanges(after: $after, heartbeatSeconds: 60) { cursor } }';
  const headers = streamHeaders();
  const openAndLeave = async () => {
    for (let count = 0; count < 40; count += 1) {
      const variables = { after: `${count} ${'x'.repeat(240_000)}` };
      const body = JSON.stringify({ query, variables });
      const stream = await rawResponse(`${app.url}/graphql`, { method: 'POST', headers, body });
      stream.on('error', () => {});
      await once(stream, 'data');
      stream.destroy();
    }
    await eventually(async () => expect(await seriesValue(app, 'subscriptions')).toBe(0));
  };
  await openAndLeave();
  const before = heldBytes();
  // The variables of these 160 requests have 38 million bytes.
  for (let round = 0; round < 4; round += 1) await openAndLeave();
  expect((heldBytes() - before) / MEGABYTE).toBeLessThan(10);
});

test('subscriptions do not retain variables that their documents do not define', async () => {
  using socket = await initializedSocket(app, token);
  await socket.watch('first');
  const before = heldBytes();
  for (let id = 0; id < 40; id += 1) {
    socket.subscribe(`${id}`, CHANGES, { unused: `${id}`.repeat(50_000) });
    await socket.until(`${id}`, 'next');
  }
  // Together the unused variables have 3.5 million bytes.
  expect(heldBytes() - before).toBeLessThan(2_000_000);
  expect(socket.closed).toBeNull();
  const streams: IncomingMessage[] = [];
  for (let id = 0; id < 40; id += 1) {
    const variables = { unused: `${id}`.repeat(50_000) };
    const body = JSON.stringify({ query: CHANGES, variables });
    const stream = await rawResponse(`${app.url}/graphql`, {
      method: 'POST',
      headers: streamHeaders(),
      body,
    });
    stream.on('error', () => {});
    await once(stream, 'data');
    streams.push(stream);
  }
  // So have those of the streams, whose bodies have as much again; the connections take 3 million bytes.
  expect(heldBytes() - before).toBeLessThan(6_000_000);
  for (const stream of streams) stream.destroy();
});

function streamHeaders() {
  return {
    accept: 'text/event-stream',
    'content-type': 'application/json',
    authorization: `Bearer ${token}`,
  };
}
