import { createHash } from 'node:crypto';
import { beforeEach, expect, test } from 'vitest';
import { OPERATIONS, type OperationName } from '../../../src/gateway/operations.ts';
import { startTestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';

interface Expected {
  readonly document: string;
  readonly call: string;
  /** The body on the wire; null without one. */
  readonly body: unknown;
  readonly email?: string;
  readonly isAnonymous?: boolean;
}

const EXPECTED: Record<OperationName, Expected> = {
  getAllTickers: {
    document: '{ instrument(id: "AAPL") { id } }',
    call: 'GET /trading/tickers/retail%5Cswap-free%20usd',
    body: null,
    email: 'swapfree@example.com',
  },
  login: {
    document:
      'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }',
    call: 'POST /auth/login',
    body: { email: 'demo@example.com', password: 'demo' },
    isAnonymous: true,
  },
  forgotPassword: {
    document: 'mutation { forgotPassword(input: { email: "demo@example.com" }) { __typename } }',
    call: 'POST /auth/forgot-password',
    body: { email: 'demo@example.com' },
    isAnonymous: true,
  },
  openPosition: {
    document: `mutation { placeOrder(input: {
      symbol: "AAPL", side: SELL, size: { amount: 250.5 }, price: 99.5, stopLoss: { amount: 10 }
      takeProfit: { price: 1.25 }, comment: "c", idempotencyKey: "op4"
    }) { __typename } }`,
    call: 'POST /trading/positions',
    body: {
      symbol: 'AAPL',
      direction: 'sell',
      type: 'amount',
      amount: 250.5,
      price: 99.5,
      slAmount: 10,
      tp: 1.25,
      comment: 'c',
    },
  },
  placeLimitOrder: {
    document: `mutation { placeLimitOrder(input: {
      symbol: "AAPL", side: BUY, amount: 100, price: 150, stopLoss: 0, takeProfit: 200
      comment: "c", idempotencyKey: "op5"
    }) { __typename } }`,
    call: 'POST /trading/positions/limit',
    body: {
      symbol: 'AAPL',
      direction: 'buy',
      amount: 100,
      price: 150,
      sl: 0,
      tp: 200,
      comment: 'c',
    },
  },
  resetTradingAccountPassword: {
    document:
      'mutation { resetTradingAccountPassword(input: { accountExternalId: "700001" }) { __typename } }',
    call: 'POST /user/trading-accounts/reset-password',
    body: { account_external_id: '700001' },
  },
  addCryptoWallet: {
    document: 'mutation { addCryptoWallet(input: { address: "bc1q" }) { __typename } }',
    call: 'POST /payments/client/add-crm-crypto-wallet',
    body: { address: 'bc1q' },
  },
  addMobileWallet: {
    document: 'mutation { addMobileWallet(input: { phone: "+49 151" }) { __typename } }',
    call: 'POST /payments/client/add-crm-mobile-wallet',
    body: { phone: '+49 151' },
  },
  setValue: {
    document:
      'mutation { setValue(input: { key: "a/b c?d=é#%2F", value: { a: [1, null, "x"] } }) { __typename } }',
    call: 'PUT /user/kv/a%2Fb%20c%3Fd%3D%C3%A9%23%252F',
    body: { value: { a: [1, null, 'x'] } },
  },
  getSession: {
    document: '{ session { balance } }',
    call: 'GET /trading/session/700001',
    body: null,
  },
  getWithdrawalMethods: {
    document: '{ withdrawalMethods { id } }',
    call: 'GET /payments/client/withdrawal-methods',
    body: null,
  },
  getOpenPositions: {
    document: '{ positions { id } }',
    call: 'GET /trading/positions',
    body: null,
  },
  getCustomerId: {
    document: '{ customerId }',
    call: 'GET /payments/client/customer-id',
    body: null,
  },
  markNotificationsRead: {
    document: 'mutation { markNotificationsRead(input: { ids: [1, "-2"] }) { __typename } }',
    call: 'PUT /user/notifications/mark-read',
    body: { ids: [1, -2] },
  },
  registerDevice: {
    document: `mutation { registerDevice(input: {
      deviceId: "d", token: "t", platform: MACOS, enabled: false
    }) { __typename } }`,
    call: 'POST /user/notifications/v2/token',
    body: { deviceId: 'd', token: 't', platform: 'macos', enabled: false },
  },
};

const app = sharedApp();

beforeEach(() => app.sandbox.clearCalls());

test.each(Object.entries(EXPECTED))('%s as the gateway receives it', async (name, expected) => {
  const { document, call, body, email = 'demo@example.com', isAnonymous = false } = expected;
  const token = app.sandbox.token({ email });
  const answer = await app.query(document, { token });
  expect(answer.errors).toEqual([]);
  const [request, ...others] = app.sandbox.requests(name as OperationName);
  expect(others).toEqual([]);
  expect(`${request?.method} ${request?.path}`).toBe(call);
  expect(request?.body === '' ? null : JSON.parse(request?.body ?? '')).toEqual(body);
  // No other header is sent: no cookie, address or user agent of the client.
  expect(request?.headers).toEqual({
    host: new URL(app.sandbox.url).host,
    // An order's connection is its own.
    connection: ['openPosition', 'placeLimitOrder'].includes(name) ? 'close' : 'keep-alive',
    accept: 'application/json',
    'x-request-id': answer.headers.get('x-request-id'),
    ...(body !== null && {
      'content-type': 'application/json',
      'content-length': String(request?.body.length),
    }),
    ...(!isAnonymous && { authorization: fingerprint(token) }),
    ...(name === 'getAllTickers' && { 'accept-encoding': 'gzip' }),
  });
});

test('no two operations have one number', () => {
  const numbers = Object.values(OPERATIONS).map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('an optional field that is left out is not sent', async () => {
  await app.query(
    'mutation { registerDevice(input: { deviceId: "d", token: null }) { __typename } }',
  );
  expect(app.sandbox.requests('registerDevice')[0]?.body).toBe('{"deviceId":"d"}');
});

test('settings change the path, add fixed headers and send the client’s own on', async () => {
  await using own = await startTestApp({
    GATEWAY_MOBILE_WALLET: 'other-pay',
    GATEWAY_DIRECTION_FIELD: 'side',
    GATEWAY_HEADERS: '{"x-api-key":"fixed","accept":"application/vnd.api+json"}',
    GATEWAY_FORWARD_CLIENT: 'on',
  });
  await own.query('mutation { addMobileWallet(input: { phone: "1" }) { __typename } }', {
    token: own.sandbox.token({ email: 'demo@example.com' }),
    headers: { 'user-agent': 'phone/1.0', 'x-forwarded-for': '203.0.113.9', cookie: 'a=b' },
  });
  await own.query(
    `mutation { placeOrder(input: {
      symbol: "AAPL", side: BUY, size: { units: 2 }, idempotencyKey: "renamed"
    }) { __typename } }`,
    { token: own.sandbox.token({ email: 'demo@example.com' }) },
  );
  const [order] = own.sandbox.requests('openPosition');
  expect(JSON.parse(order?.body ?? '')).toMatchObject({ side: 'buy' });
  const [request] = own.sandbox.requests('addMobileWallet');
  expect(request?.path).toBe('/payments/client/add-crm-other-pay');
  expect(request?.headers).toMatchObject({
    'x-api-key': 'fixed',
    accept: 'application/vnd.api+json',
    'user-agent': 'phone/1.0',
    // No proxy is trusted here, so the client's address is the socket's peer.
    'x-forwarded-for': '127.0.0.1',
  });
  expect(request?.headers).not.toHaveProperty('cookie');
});

function fingerprint(token: string): string {
  return `sha256:${createHash('sha256').update(token).digest('hex').slice(0, 16)}`;
}
