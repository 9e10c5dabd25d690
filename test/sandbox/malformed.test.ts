import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';
const BODIES = [
  '',
  '{',
  '{"symbol":"AAPL"',
  'null',
  'true',
  '7',
  '"text"',
  '[]',
  '[{"ids":[1]}]',
  '\u0000',
  '\ufeff{}',
  '{"__proto__":{"symbol":"AAPL"}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '['.repeat(100_000),
];
const WRITES = [
  ['post', '/auth/login'],
  ['post', '/auth/forgot-password'],
  ['post', '/trading/positions'],
  ['post', '/trading/positions/limit'],
  ['post', '/user/trading-accounts/reset-password'],
  ['post', '/payments/client/add-crm-crypto-wallet'],
  ['post', '/payments/client/add-crm-mobile-wallet'],
  ['put', '/user/kv/key'],
  ['put', '/user/notifications/mark-read'],
  ['post', '/user/notifications/v2/token'],
] as const;

test.each(WRITES)('%s %s refuses any body that is no object of its own', async (verb, path) => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  for (const body of BODIES) {
    expect((await demo[verb](path, body)).status, body.slice(0, 40)).toBe(400);
  }
  expect((await demo.get('/trading/positions')).status).toBe(200);
});

test('a body over a megabyte is 413, and the sandbox goes on', async () => {
  await using place = await openSandbox();
  const demo = place.as(DEMO);
  const body = JSON.stringify({ value: 'x'.repeat(1_100_000) });
  const answer = await demo.put('/user/kv/key', body);
  expect(answer.status).toBe(413);
  expect(answer.body).toMatchObject({ error: 'PAYLOAD_TOO_LARGE' });
  expect((await demo.put('/user/kv/key', { value: 'x'.repeat(900_000) })).status).toBe(200);
});

test.each([
  ['get', '/', 404],
  ['get', '/nope', 404],
  ['get', '/trading/tickers/', 404],
  ['get', '/trading/tickers/a/b', 404],
  ['get', '/trading/session/', 404],
  ['get', '/trading/positions/limit', 405],
  ['post', '/trading/session/700001', 405],
  ['put', '/trading/positions', 405],
  ['post', '/payments/client/add-crm-other-wallet', 404],
  ['get', '/trading/tickers/%zz', 400],
  ['get', '/sandbox/nope', 404],
] as const)('%s %s is %i', async (verb, path, status) => {
  await using place = await openSandbox();
  expect((await place.as(DEMO)[verb](path)).status).toBe(status);
});

test('bytes that are not HTTP end their own connection only', async () => {
  await using place = await openSandbox();
  for (const bytes of [
    '\u0000\u0001\u0002\r\n\r\n',
    'GET\r\n\r\n',
    'POST /auth/login HTTP/9\r\n\r\n',
  ]) {
    const socket = connect(place.sandbox.port, '127.0.0.1');
    socket.end(bytes);
    socket.resume();
    await once(socket, 'close');
  }
  expect((await place.as(DEMO).get('/trading/positions')).status).toBe(200);
});

test('a client that disconnects in the middle of its body does no harm', async () => {
  await using place = await openSandbox();
  const socket = connect(place.sandbox.port, '127.0.0.1');
  await once(socket, 'connect');
  const head =
    'POST /trading/positions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"symbol"';
  socket.write(head);
  await expect.poll(() => socket.bytesWritten).toBe(head.length);
  socket.resetAndDestroy();
  expect((await place.as(DEMO).get('/trading/positions')).status).toBe(200);
  expect(place.sandbox.orders()).toEqual([]);
});

test('a prefix of the base address counts', async () => {
  await using place = await openSandbox({ pathPrefix: '/api/v1' });
  expect(place.sandbox.url).toMatch(/\/api\/v1$/);
  expect((await place.as(DEMO).get('/trading/positions')).status).toBe(200);
  const bare = await fetch(`${new URL(place.sandbox.url).origin}/trading/positions`);
  expect(bare.status).toBe(404);
});

test('an idle connection is closed without a warning, where that is asked for', async () => {
  await using place = await openSandbox({ idleTimeoutMs: 50 });
  const socket = connect(place.sandbox.port, '127.0.0.1');
  socket.write('GET /trading/positions HTTP/1.1\r\nhost: x\r\n\r\n');
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(/connection: keep-alive/i);
  expect(String(head)).not.toMatch(/^keep-alive:/im);
  socket.resume();
  await once(socket, 'close');
});

test('a port in use is an error that says so', async () => {
  await using place = await openSandbox();
  await expect(openSandbox({ port: place.sandbox.port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});
