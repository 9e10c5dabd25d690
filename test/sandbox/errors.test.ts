import { describe, expect, test } from 'vitest';
import { openSandbox, type SandboxClient } from './sandbox-client.ts';

const text = expect.any(String);
const shapes = {
  withDetails: { error: text, message: text, details: expect.any(Object) },
  withOk: { error: text, ok: false },
  withEmail: { error: text, email: text, ok: false },
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
  const answer = await call(place.as('demo@example.com'));
  expect(answer.status).toBe(400);
  expect(answer.body).toStrictEqual(shape);
});

describe('the data of another account is 403', () => {
  test('the catalog of another group', async () => {
    await using place = await openSandbox();
    const answer = await place.as('demo@example.com').get('/trading/tickers/pro-usd');
    expect(answer.status).toBe(403);
    expect(answer.body).toStrictEqual(shapes.withDetails);
  });

  test('the session of another login', async () => {
    await using place = await openSandbox();
    const answer = await place.as('demo@example.com').get('/trading/session/700002');
    expect(answer.status).toBe(403);
    expect(answer.body).toStrictEqual(shapes.messageOnly);
  });

  test.each([
    ['op 14', 'put', '/user/notifications/mark-read', { ids: [1] }, shapes.errorAndMessage],
    ['op 15', 'post', '/user/notifications/v2/token', { deviceId: 'a' }, shapes.errorAndMessage],
    [
      'op 4',
      'post',
      '/trading/positions',
      { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 },
      shapes.submit,
    ],
  ] as const)('%s of a restricted account', async (_name, verb, path, body, shape) => {
    await using place = await openSandbox();
    const answer = await place.as('restricted@example.com')[verb](path, body);
    expect(answer.status).toBe(403);
    expect(answer.body).toStrictEqual(shape);
  });
});

describe('login', () => {
  test.each([
    ['an unknown e-mail', 'nobody@example.com', 'demo', 404, shapes.withEmail],
    ['a wrong password', 'demo@example.com', 'wrong', 401, shapes.withOk],
    ['no e-mail address', 'demo', 'demo', 400, shapes.withDetails],
    ['a locked account', 'locked@example.com', 'demo', 403, shapes.withOk],
    ['an unconfirmed e-mail', 'unverified@example.com', 'demo', 403, shapes.withDetails],
    ['an expired password', 'password-expired@example.com', 'demo', 200, shapes.withOk],
  ])('refuses %s in the shape it has for that', async (_why, email, password, status, shape) => {
    await using place = await openSandbox();
    const answer = await place.anonymous.post('/auth/login', { email, password });
    expect(answer.status).toBe(status);
    expect(answer.body).toStrictEqual(shape);
  });

  test('gives a token that opens the account, whatever the case of the e-mail', async () => {
    await using place = await openSandbox();
    const { body } = await place.anonymous.post('/auth/login', {
      email: 'Demo@Example.com',
      password: 'demo',
    });
    expect(body).toStrictEqual({ access_token: text, passkey: false, refresh_token: text });
    const headers = { authorization: `Bearer ${(body as { access_token: string }).access_token}` };
    const answer = await place.anonymous.get('/trading/session/700001', headers);
    expect(answer.status).toBe(200);
  });
});

describe('forgot-password', () => {
  test.each([
    ['demo@example.com', 200, { success: true }],
    ['nobody@example.com', 404, shapes.withOk],
    ['locked@example.com', 403, shapes.withOk],
    ['', 400, shapes.withDetails],
  ])('%s', async (email, status, shape) => {
    await using place = await openSandbox();
    const answer = await place.anonymous.post('/auth/forgot-password', { email });
    expect(answer.status).toBe(status);
    expect(answer.body).toStrictEqual(shape);
  });
});

test('notifications need no token, but a bad one is refused', async () => {
  await using place = await openSandbox();
  const path = '/user/notifications/mark-read';
  const free = await place.anonymous.put(path, { ids: [1, 2.5] });
  expect([free.status, free.body]).toEqual([200, { success: true }]);
  const demo = place.as('demo@example.com');
  place.sandbox.revoke({ login: 700001 });
  const revoked = await demo.put(path, { ids: [1] });
  expect(revoked.status).toBe(401);
  expect(revoked.body).toStrictEqual(shapes.errorAndMessage);
});

test.each([
  ['a token that is no string', { deviceId: 'a', token: 1 }],
  ['an unknown platform', { deviceId: 'a', platform: 'beos' }],
  ['enabled as a text', { deviceId: 'a', enabled: 'yes' }],
  ['an empty device', { deviceId: '' }],
])('registering a device refuses %s', async (_what, body) => {
  await using place = await openSandbox();
  const answer = await place.anonymous.post('/user/notifications/v2/token', body);
  expect(answer.status).toBe(400);
  expect(answer.body).toStrictEqual(shapes.errorAndMessage);
});
