import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
let token: string;
let expected: unknown;

const NODES = 'nodes { id name description tradingHours { regular } }';
/** Reads more than the catalog, so that no cached response answers it. */
const LARGE = `{ customerId a: instruments(first: 500) { ${NODES} } b: instruments(last: 500) { ${NODES} } }`;

beforeAll(async () => {
  token = await app.signIn();
  const parts = [
    '{ customerId }',
    `{ a: instruments(first: 500) { ${NODES} } }`,
    `{ b: instruments(last: 500) { ${NODES} } }`,
  ];
  const answers = await Promise.all(parts.map((text) => app.query(text, { token })));
  expected = Object.assign({}, ...answers.map(({ data }) => data));
});

async function post(headers: Readonly<Record<string, string>>): Promise<unknown> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({ query: LARGE }),
  });
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as { data: unknown };
  return data;
}

function first(subscribe: (sink: object) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    subscribe({
      next: ({ data }: { data: unknown }) => resolve(data),
      error: reject,
      complete: () => reject(new Error('no answer')),
    });
  });
}

test.each([
  ['as they are', { 'accept-encoding': 'identity' }],
  ['compressed with gzip', { 'accept-encoding': 'gzip' }],
  ['compressed with Brotli', { 'accept-encoding': 'br' }],
  ['through content negotiation', { accept: 'application/graphql-response+json;q=0.9' }],
])('a large answer has the fields of small ones over HTTP: %s', async (_how, headers) => {
  expect(await post(headers)).toEqual(expected);
});

test('over a WebSocket', async () => {
  const client = createClient({
    url: `${app.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
  });
  expect(await first((sink) => client.subscribe({ query: LARGE }, sink as never))).toEqual(
    expected,
  );
  await client.dispose();
});

test('as the only event of a stream', async () => {
  const client = createSseClient({
    url: `${app.url}/graphql`,
    headers: { authorization: `Bearer ${token}` },
  });
  expect(await first((sink) => client.subscribe({ query: LARGE }, sink as never))).toEqual(
    expected,
  );
  client.dispose();
});

test('new documents that a client sends in one burst are opened in turns', async () => {
  const socket = new WebSocket(`${app.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  await new Promise((resolve) => socket.once('open', resolve));
  const received: string[] = [];
  const over = new Promise<void>((resolve) => {
    socket.on('message', (data) => {
      const { type } = JSON.parse(String(data)) as { type: string };
      received.push(type);
      if (received.filter((each) => each === 'complete' || each === 'error').length === 40)
        resolve();
    });
  });
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns += 1;
    if (!isOver) setImmediate(turn);
  };
  const params = { authorization: `Bearer ${token}` };
  socket.send(JSON.stringify({ type: 'connection_init', payload: params }));
  await eventually(() => received.includes('connection_ack'));
  const fields = Array.from({ length: 25 }, (_, at) => `a${at}: session { login balance equity }`);
  for (let at = 0; at < 40; at += 1) {
    const payload = { query: `query Burst${at} { ${fields.join(' ')} }` };
    socket.send(JSON.stringify({ id: String(at), type: 'subscribe', payload }));
  }
  setImmediate(turn);
  await over;
  isOver = true;
  // Each takes some milliseconds to validate: without turns all forty take one or two.
  expect(received.filter((type) => type === 'next')).toHaveLength(40);
  expect(turns).toBeGreaterThan(20);
  socket.close();
});
