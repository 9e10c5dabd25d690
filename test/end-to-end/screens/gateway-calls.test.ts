import { beforeEach, expect, test } from 'vitest';
import { BEFORE_TOKEN, TOKEN_HEADER } from '../../../src/gateway/operations/conventions.ts';
import { OPERATION_NAMES } from '../../../src/gateway/operations.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';
import { REQUESTS } from '../../operations/requests.ts';
import { startTestApp } from '../../support/app.ts';
import { pathOf } from '../../support/ask-gateway.ts';
import { buying } from '../../support/buying.ts';
import { keyOf } from '../../support/order-keys.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();

beforeEach(() => app.sandbox.clearCalls());

test.each(OPERATION_NAMES)(
  'the gateway receives exactly the expected requests of %s',
  async (name) => {
    const { document, errors } = OPERATION_CASES[name];
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const answer = await app.query(document, { token, variables: { key: keyOf(name) } });
    expect(answer.errors).toEqual([]);
    const requests = app.sandbox.requests(name);
    const sent = requests.map(({ method, path, body }) => [
      `${method} ${path}`,
      ...(body === '' ? [] : [JSON.parse(body)]),
    ]);
    expect(sent).toEqual(REQUESTS[name]);
    const [request] = requests;
    // These are all headers: the client's cookie, address and user agent are not sent.
    expect(request?.headers).toEqual({
      host: new URL(app.sandbox.url).host,
      // An order's connection is used only once.
      connection: ['openPosition', 'placeLimitOrder'].includes(name) ? 'close' : 'keep-alive',
      accept: 'application/json',
      'x-request-id': answer.headers.get('x-request-id'),
      ...(request?.body !== '' && {
        'content-type': 'application/json',
        'content-length': String(request?.body.length),
      }),
      ...(errors !== 'sign-in' && { [TOKEN_HEADER]: BEFORE_TOKEN + token }),
      ...(name === 'getAllTickers' && { 'accept-encoding': 'gzip' }),
    });
  },
);

test('an omitted optional field is not sent, and an omitted value is null', async () => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  await app.query(
    `mutation {
      registerDevice(input: { deviceId: "d", token: null }) { __typename }
      setValue(input: { key: "k" }) { __typename }
    }`,
    { token },
  );
  expect(app.sandbox.requests('registerDevice')[0]?.body).toBe('{"deviceId":"d"}');
  expect(app.sandbox.requests('setValue')[0]?.body).toBe('{"value":null}');
});

test('settings can change a path and a field, add headers and forward the client’s address and user agent', async () => {
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
  await own.query(buying('renamed', '__typename'), {
    token: own.sandbox.token({ email: 'demo@example.com' }),
  });
  const [order] = own.sandbox.requests('openPosition');
  expect(JSON.parse(order?.body ?? '')).toMatchObject({ side: 'buy' });
  const [request] = own.sandbox.requests('addMobileWallet');
  expect(request?.path).toBe(pathOf('addMobileWallet', { provider: 'other-pay' }));
  expect(request?.headers).toMatchObject({
    'x-api-key': 'fixed',
    accept: 'application/vnd.api+json',
    'user-agent': 'phone/1.0',
    // No proxy is trusted here, so the client's address is the socket's peer.
    'x-forwarded-for': '127.0.0.1',
  });
  expect(request?.headers).not.toHaveProperty('cookie');
});
