import { expect, test } from 'vitest';
import { openSandbox, type SandboxClient } from './sandbox-client.ts';

const DEMO = 'demo@example.com';
const text = expect.any(String);
const shapes = {
  withDetails: { error: text, message: text, details: expect.any(Object) },
  messageOnly: { message: text },
  errorAndMessage: { error: text, message: text },
  submit: { success: false, err: text, message: text },
};

type Case = readonly [string, (who: SandboxClient) => ReturnType<SandboxClient['get']>, object];

// Operation by operation; each in the body shape that the interface gives it.
const NEEDING_A_TOKEN: readonly Case[] = [
  ['op 1', (who) => who.get('/trading/tickers/standard-usd'), shapes.withDetails],
  ['op 4', (who) => who.post('/trading/positions', {}), shapes.submit],
  ['op 5', (who) => who.post('/trading/positions/limit', {}), shapes.submit],
  ['op 6', (who) => who.post('/user/trading-accounts/reset-password', {}), shapes.withDetails],
  ['op 7', (who) => who.post('/payments/client/add-crm-crypto-wallet', {}), shapes.withDetails],
  ['op 8', (who) => who.post('/payments/client/add-crm-mobile-wallet', {}), shapes.withDetails],
  ['op 9', (who) => who.put('/user/kv/theme', { value: 1 }), shapes.withDetails],
  ['op 10', (who) => who.get('/trading/session/700001'), shapes.messageOnly],
  ['op 11', (who) => who.get('/payments/client/withdrawal-methods'), shapes.withDetails],
  ['op 12', (who) => who.get('/trading/positions'), shapes.withDetails],
  ['op 13', (who) => who.get('/payments/client/customer-id'), shapes.withDetails],
];

test.each(NEEDING_A_TOKEN)('%s answers 401 without a token', async (_name, call, shape) => {
  await using place = await openSandbox();
  const answer = await call(place.anonymous);
  expect(answer.status).toBe(401);
  expect(answer.body).toStrictEqual(shape);
});

const MALFORMED: readonly Case[] = [
  ['op 2', (who) => who.post('/auth/login', { email: 'x', password: 'demo' }), shapes.withDetails],
  ['op 3', (who) => who.post('/auth/forgot-password', {}), shapes.withDetails],
  ['op 4', (who) => who.post('/trading/positions', { symbol: 'AAPL' }), shapes.submit],
  ['op 5', (who) => who.post('/trading/positions/limit', { symbol: 'AAPL' }), shapes.submit],
  ['op 6', (who) => who.post('/user/trading-accounts/reset-password', {}), shapes.withDetails],
  ['op 7', (who) => who.post('/payments/client/add-crm-crypto-wallet', {}), shapes.withDetails],
  ['op 8', (who) => who.post('/payments/client/add-crm-mobile-wallet', {}), shapes.withDetails],
  ['op 9', (who) => who.put('/user/kv/theme', {}), shapes.withDetails],
  ['op 14', (who) => who.put('/user/notifications/mark-read', {}), shapes.errorAndMessage],
  ['op 15', (who) => who.post('/user/notifications/v2/token', {}), shapes.errorAndMessage],
];

test.each(MALFORMED)('%s answers 400 to a missing field', async (_name, call, shape) => {
  await using place = await openSandbox();
  const answer = await call(place.as(DEMO));
  expect(answer.status).toBe(400);
  expect(answer.body).toStrictEqual(shape);
});

test.each([
  ['get', '/nope', 404],
  ['get', '/trading/tickers/', 404],
  ['get', '/trading/tickers/a/b', 404],
  ['get', '/trading/positions/limit', 405],
  ['post', '/trading/session/700001', 405],
  ['post', '/payments/client/add-crm-other-wallet', 404],
  ['get', '/trading/tickers/%zz', 400],
  ['get', '/sandbox/nope', 404],
] as const)('%s %s is %i', async (verb, path, status) => {
  await using place = await openSandbox();
  expect((await place.as(DEMO)[verb](path)).status).toBe(status);
});
