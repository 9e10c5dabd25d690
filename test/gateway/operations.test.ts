import { describe, expect, test } from 'vitest';
import { OPERATION_NAMES, OPERATIONS, type OperationName } from '../../src/gateway/operations.ts';
import { customerIdRead } from '../../src/gateway/wire/payments.ts';
import { toToken } from '../../src/lib/token.ts';
import { openSandbox } from '../sandbox/sandbox-client.ts';
import { CALLS } from './calls.ts';
import { openClient } from './open-client.ts';

const DEMO = 'demo@example.com';
const acknowledged = { outcome: 'acknowledged' };
const accepted = { outcome: 'accepted', orderId: expect.stringMatching(/./) };
const sent = {
  sequence: expect.any(Number),
  sentAtMs: expect.any(Number),
  receivedAtMs: expect.any(Number),
};

interface Expected {
  readonly request: string;
  readonly body?: unknown;
  readonly result: unknown;
}

const EXPECTED: Readonly<Record<OperationName, Expected>> = {
  getAllTickers: {
    request: 'GET /trading/tickers/standard-usd',
    result: {
      modified: true,
      instruments: expect.any(Array),
      skipped: 0,
      total: 500,
      unknownValues: 0,
      etag: expect.stringMatching(/^W\/"/),
      headers: expect.objectContaining({ 'cache-control': expect.any(String) }),
      ...sent,
    },
  },
  login: {
    request: 'POST /auth/login',
    body: { email: DEMO, password: 'demo' },
    result: {
      accessToken: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      refreshToken: 'refresh-700001',
      passkey: false,
    },
  },
  forgotPassword: {
    request: 'POST /auth/forgot-password',
    body: { email: DEMO },
    result: acknowledged,
  },
  openPosition: {
    request: 'POST /trading/positions',
    body: { symbol: 'AAPL', direction: 'buy', type: 'unit', amount: 1 },
    result: expect.objectContaining(accepted),
  },
  placeLimitOrder: {
    request: 'POST /trading/positions/limit',
    body: { symbol: 'AAPL', direction: 'sell', amount: 100, price: 500 },
    result: expect.objectContaining(accepted),
  },
  resetTradingAccountPassword: {
    request: 'POST /user/trading-accounts/reset-password',
    body: { account_external_id: '700001' },
    result: acknowledged,
  },
  addCryptoWallet: {
    request: 'POST /payments/client/add-crm-crypto-wallet',
    body: { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
    result: acknowledged,
  },
  addMobileWallet: {
    request: 'POST /payments/client/add-crm-mobile-wallet',
    body: { phone: '+15550100' },
    result: acknowledged,
  },
  setValue: {
    request: 'PUT /user/kv/theme',
    body: { value: { dark: true } },
    result: acknowledged,
  },
  getSession: {
    request: 'GET /trading/session/700001',
    result: {
      session: expect.objectContaining({ login: '700001', group: 'standard-usd' }),
      ...sent,
    },
  },
  getWithdrawalMethods: {
    request: 'GET /payments/client/withdrawal-methods',
    result: [expect.objectContaining({ group: 0, title: 'Bank account', status: 'APPROVED' })],
  },
  getOpenPositions: {
    request: 'GET /trading/positions',
    result: { positions: expect.any(Array), bytes: expect.any(Buffer), ...sent },
  },
  getCustomerId: { request: 'GET /payments/client/customer-id', result: 'cus_700001' },
  markNotificationsRead: {
    request: 'PUT /user/notifications/mark-read',
    body: { ids: [1, 2] },
    result: acknowledged,
  },
  registerDevice: {
    request: 'POST /user/notifications/v2/token',
    body: { deviceId: 'phone-1' },
    result: acknowledged,
  },
};

test('no two operations have one number', () => {
  const numbers = OPERATION_NAMES.map((name) => OPERATIONS[name].number);
  expect(new Set(numbers).size).toBe(numbers.length);
});

describe.each(OPERATION_NAMES)('%s', (name) => {
  test('sends the request of the interface and maps its answer', async () => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url);
    const caller = { token: toToken(String(place.as(DEMO).token)) };
    const { request, body, result } = EXPECTED[name];

    expect(await CALLS[name](open.client, caller)).toStrictEqual(result);

    const [received, ...more] = place.sandbox.requests();
    expect(more).toEqual([]);
    expect(received?.operation).toBe(name);
    expect(`${received?.method} ${received?.path}`).toBe(request);
    expect(received?.body).toBe(body === undefined ? '' : JSON.stringify(body));
    const { host: _, authorization, ...headers } = received?.headers ?? {};
    expect(headers).toEqual({
      accept: 'application/json',
      connection: 'keep-alive',
      ...(name === 'getAllTickers' && { 'accept-encoding': 'gzip' }),
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(received?.body.length),
      }),
    });
    // A client that signs in is anonymous: a token that came along is not forwarded.
    expect(authorization !== undefined).toBe(name !== 'login' && name !== 'forgotPassword');
  });
});

describe('an order', () => {
  const full = {
    symbol: 'AAPL',
    side: 'SELL',
    size: { by: 'amount', value: 250.5 },
    price: 190,
    stopLoss: { by: 'amount', value: 20 },
    takeProfit: { by: 'price', value: 0 },
    comment: 'a note: "quoted" — ☃',
  } as const;

  test('has only the requested fields, under the names of op 4', async () => {
    await using place = await openSandbox({ directionField: 'side' });
    await using open = openClient(place.sandbox.url, { directionField: 'side' });
    await open.client.openPosition({ token: toToken(String(place.as(DEMO).token)) }, full);
    expect(JSON.parse(place.sandbox.requests()[0]?.body ?? '')).toStrictEqual({
      symbol: 'AAPL',
      side: 'sell',
      type: 'amount',
      amount: 250.5,
      price: 190,
      slAmount: 20,
      tp: 0,
      comment: 'a note: "quoted" — ☃',
    });
  });
});

describe('the headers of a call', () => {
  const client = { address: '203.0.113.9', userAgent: 'App/1.0' };

  test('hold the fixed ones, which give way to the token only', async () => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url, {
      headers: { 'x-api-key': 'k', accept: 'application/vnd.api+json' },
    });
    const token = toToken(String(place.as(DEMO).token));
    await open.client.read({ token, client }, customerIdRead, {});
    const [received] = place.sandbox.requests();
    expect(received?.headers).toMatchObject({
      'x-api-key': 'k',
      accept: 'application/vnd.api+json',
      authorization: expect.stringMatching(/^sha256:/),
    });
    expect(received?.headers).not.toHaveProperty('x-forwarded-for');
    expect(received?.headers).not.toHaveProperty('user-agent');
  });

  test('name the client where forwarding is on', async () => {
    await using place = await openSandbox();
    await using open = openClient(place.sandbox.url, { forwardClient: true });
    const token = toToken(String(place.as(DEMO).token));
    await open.client.read({ token, client }, customerIdRead, {});
    await open.client.read({ token, client: { ...client, userAgent: null } }, customerIdRead, {});
    await open.client.read({ token }, customerIdRead, {});
    const seen = place.sandbox
      .requests()
      .map(({ headers }) => [headers['x-forwarded-for'], headers['user-agent']]);
    expect(seen).toEqual([
      ['203.0.113.9', 'App/1.0'],
      ['203.0.113.9', undefined],
      [undefined, undefined],
    ]);
  });
});
