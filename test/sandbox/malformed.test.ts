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

test('a port in use is an error that says so', async () => {
  await using place = await openSandbox();
  await expect(openSandbox({ port: place.sandbox.port })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  });
});
