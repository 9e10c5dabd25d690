import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { eventually } from '../../../test/support/eventually.ts';
import { listenLocally } from '../../../test/support/local-server.ts';
import { type CoreOptions, createCore } from '../../src/create-core.ts';
import type { TradingGraphError } from '../../src/errors.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

/** A server that acknowledges each socket and closes it with the next of these codes; after them it stays open. */
async function startClosingServer(codes: readonly number[]) {
  const http = createServer();
  const server = new WebSocketServer({ server: http });
  const tokens: unknown[] = [];
  server.on('connection', (socket) => {
    socket.on('message', (bytes) => {
      const { type, payload } = JSON.parse(String(bytes));
      if (type !== 'connection_init') return;
      const code = codes[tokens.length];
      tokens.push(payload.authorization);
      socket.send('{"type":"connection_ack"}');
      if (code !== undefined) socket.close(code, 'as told');
    });
  });
  return Object.assign(await listenLocally(http), { tokens });
}

function subscribe(url: string, token: CoreOptions['token'] = () => 'one') {
  // Waits of seconds are shortened, as no test waits for them.
  const environment = countedEnvironment({
    hurry: (ms) => (ms < 10_000 && ms !== 3_000 ? Math.min(ms, 20) : ms),
  });
  const signedOut: TradingGraphError[] = [];
  const ended: (TradingGraphError | null)[] = [];
  const core = createCore({
    url,
    token,
    storage: null,
    onSignedOut: (error) => signedOut.push(error),
    route: false,
    environment,
  });
  core.subscribe('subscription { positionChanges { cursor } }', () => ({}), {
    next() {},
    ended: (error) => ended.push(error),
  });
  return { ended, signedOut, environment, [Symbol.dispose]: () => core.dispose() };
}

test.each([
  [1009, 'a message too large'],
  [4400, 'an invalid message'],
  [4406, 'another protocol'],
  [4409, 'an operation of that id'],
])('%d, %s, ends the subscription: a new socket would be closed in the same way', async (code) => {
  await using server = await startClosingServer([code]);
  using client = subscribe(server.url);
  await eventually(() => client.ended.length > 0);
  expect(client.ended).toMatchObject([{ code: 'PROTOCOL', retryable: false }]);
  expect(client.ended[0]?.message).toContain(String(code));
  expect(server.tokens).toHaveLength(1);
  expect([...client.environment.timers]).toEqual([]);
});

test.each([1000, 1001, 1011, 1012, 4429, 4500])('%d is followed by a new socket', async (code) => {
  await using server = await startClosingServer([code]);
  using client = subscribe(server.url);
  await eventually(() => server.tokens.length === 2);
  expect(client.ended).toEqual([]);
});

test('1013 is followed by a new socket after the wait that an overloaded server needs', async () => {
  await using server = await startClosingServer([1013]);
  using client = subscribe(server.url);
  await eventually(() => server.tokens.length === 2);
  expect(client.environment.pauses.some((ms) => ms >= 5_000 && ms < 10_000)).toBe(true);
});

test.each([4401, 4403])('%d is followed by a new socket with a new token', async (code) => {
  await using server = await startClosingServer([code]);
  using client = subscribe(server.url, ({ force }) => (force ? 'two' : 'one'));
  await eventually(() => server.tokens.length === 2);
  expect(server.tokens).toEqual(['Bearer one', 'Bearer two']);
  expect(client.signedOut).toEqual([]);
});
