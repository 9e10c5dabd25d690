import { type Client, createClient } from 'graphql-ws';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { initializedSocket, openSocket } from './raw-socket.ts';

const app = sharedApp({ POSITIONS_POLL_MS: '100' });
const EVENTS = 'subscription { positionChanges(intervalMs: 100) { cursor } }';

/** A client of graphql-ws, the library that defines the protocol, and the messages that the client receives. */
function clientOf(payload: object, options: { readonly keepAlive?: number } = {}) {
  const received: { readonly type: string; readonly id?: string }[] = [];
  const client = createClient({
    url: app.webSocketUrl,
    webSocketImpl: WebSocket,
    connectionParams: { ...payload },
    lazy: false,
    retryAttempts: 0,
    onNonLazyError: () => {},
    on: { message: (message) => received.push(message) },
    ...options,
  });
  return { client, received, closed: new Promise((resolve) => client.on('closed', resolve)) };
}

async function resultsOf(client: Client, query: string) {
  const results = [];
  for await (const result of client.iterate({ query })) results.push(result);
  return results;
}

test('the client of graphql-ws gets every message of the protocol', async () => {
  const { client, received, closed } = clientOf(
    { authorization: `Bearer ${await app.signIn()}` },
    { keepAlive: 50 },
  );
  expect(await resultsOf(client, '{ customerId }')).toMatchObject([
    { data: { customerId: 'cus_700001' } },
  ]);
  const write = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';
  expect(await resultsOf(client, write)).toMatchObject([
    { data: { setValue: { __typename: 'Acknowledged' } } },
  ]);
  await expect(resultsOf(client, '{ nothing }')).rejects.toMatchObject([
    { extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } },
  ]);
  const events = client.iterate({ query: EVENTS });
  expect(await events.next()).toMatchObject({ done: false, value: { data: expect.anything() } });
  await events.return?.();
  await eventually(() => received.some(({ type }) => type === 'pong'));
  // After the subscription is ended, its id gets no further message.
  const last = received.findLastIndex(({ type }) => type === 'next');
  expect(await resultsOf(client, '{ __typename }')).toMatchObject([
    { data: { __typename: 'Query' } },
  ]);
  const eventsId = received[last]?.id;
  expect(received.slice(last + 1).filter(({ id }) => id === eventsId)).toEqual([]);
  const types = new Set(received.map(({ type }) => type));
  expect([...types].sort()).toEqual(['complete', 'connection_ack', 'error', 'next', 'pong']);
  await client.dispose();
  expect(await closed).toMatchObject({ code: 1000 });
});

test('messages sent together with connection_init are answered after its acknowledgement, each for its own operation', async () => {
  using raw = await openSocket(app);
  // The stream holds all messages back until `uncork`, so that they arrive in one piece.
  raw.stream.cork();
  raw.send({ type: 'connection_init', payload: { authorization: `Bearer ${await app.signIn()}` } });
  raw.subscribe('1', '{ customerId }');
  raw.subscribe('2', EVENTS);
  raw.send({ type: 'complete', id: '2' });
  raw.subscribe('3', '{ __typename }');
  raw.stream.uncork();
  await raw.until('1', 'complete');
  await raw.until('3', 'complete');
  expect(raw.messages[0]).toEqual({ type: 'connection_ack' });
  expect(raw.messagesOf('1').map(({ payload }) => payload?.data)).toEqual([
    { customerId: 'cus_700001' },
    undefined,
  ]);
  // The feed can send its first event before the service reads `complete`.
  expect(raw.messagesOf('2').filter(({ type }) => type !== 'next')).toEqual([]);
});

test('the id of an abandoned write can be used again once the write has ended', async () => {
  app.sandbox.fail({ operation: 'setValue', kind: 'delay', delayMs: 300, times: 2 });
  const token = await app.signIn();
  for (const waits of [false, true]) {
    app.sandbox.clearCalls();
    using raw = await initializedSocket(app, token);
    const name = `Left${waits}`;
    raw.subscribe('1', `mutation ${name} { setValue(input: { key: "k" }) { __typename } }`);
    await eventually(() => expect(app.sandbox.calls('setValue')).toBe(1));
    raw.send({ type: 'complete', id: '1' });
    if (waits) {
      await eventually(() => app.logged.some((line) => line.includes(`"operationName":"${name}"`)));
      await raw.watch('1', EVENTS);
    } else {
      raw.subscribe('1', EVENTS);
      expect((await raw.untilClosed()).code).toBe(4409);
    }
    const types = new Set(raw.messagesOf('1').map(({ type }) => type));
    expect(types).toEqual(new Set(waits ? ['next'] : []));
  }
});
