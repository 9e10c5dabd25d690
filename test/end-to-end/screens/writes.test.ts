import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errorBody } from '../../../src/gateway/operations/conventions.ts';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { startTestApp } from '../../support/app.ts';
import { keyOf } from '../../support/order-keys.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp();
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearFaults());

const OUTCOME = `{
  __typename
  ... on Acknowledged { success }
  ... on Refusal { error message }
  ... on Rejected { details }
}`;
const documentOf = (field: string) =>
  `mutation ($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) ${OUTCOME} }`;

/** For each write: the name of its field and operation, an input, and whether it can safely be repeated. */
const WRITES: readonly (readonly [OperationName, object, boolean])[] = [
  ['resetTradingAccountPassword', { accountExternalId: '700001' }, false],
  ['addCryptoWallet', { address: 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh' }, false],
  ['addMobileWallet', { phone: '+49 151 12345678' }, false],
  ['setValue', { key: 'theme', value: { dark: true, list: [1, null, 'x'] } }, true],
  ['markNotificationsRead', { ids: [1, '2'] }, true],
  ['registerDevice', { deviceId: 'device-1', token: 'push', platform: 'IOS', enabled: true }, true],
];

test('an added wallet is in the list of the same answer', async () => {
  const document = `mutation ($input: AddMobileWalletInput!) {
    addMobileWallet(input: $input) { ... on Acknowledged { withdrawalMethods { id } } } }`;
  const before = await app.query('{ withdrawalMethods { id } }', { token });
  const variables = { input: { phone: '+49 151 1' } };
  const { data } = await app.query(document, { token, variables });
  const { withdrawalMethods } = data.addMobileWallet;
  expect(withdrawalMethods).toHaveLength(before.data.withdrawalMethods.length + 1);
});

describe.each(WRITES)('%s', (field, input, isRepeatable) => {
  const document = documentOf(field);
  const send = (value: object, as: string | null = token) =>
    app.query(document, { token: as, variables: { input: value } });

  test('is acknowledged, or rejected with the gateway’s message', async () => {
    const { data, errors } = await send(input);
    expect(errors).toEqual([]);
    expect(data[field]).toEqual({ __typename: 'Acknowledged', success: true });
    const reason = { error: 'NOT_THIS', message: 'Not this one.', details: { why: ['so'] } };
    const body = { ...errorBody('details', reason), more: 1 };
    app.sandbox.fail({ operation: field, kind: 'status', status: 422, body });
    const rejected = await send(input);
    expect(rejected.errors).toEqual([]);
    expect(rejected.data[field]).toEqual({ __typename: 'Rejected', ...reason });
  });

  test.each([{ kind: 'status', status: 503 }, { kind: 'reset-after' }] as const)(
    'has an unknown outcome if the gateway answers with %j, and is sent only once',
    async (fault) => {
      app.sandbox.fail({ operation: field, ...fault });
      app.sandbox.clearCalls();
      // No other test has used this token.
      const own = app.sandbox.token({ email: 'demo@example.com' });
      const { data, errors } = await send(input, own);
      expect(data).toEqual({ [field]: null });
      const extensions = { code: 'OUTCOME_UNKNOWN', retryable: isRepeatable, operation: field };
      expect(errors).toMatchObject([{ path: [field], extensions }]);
      expect(app.sandbox.calls(field)).toBe(1);
    },
  );
});

test.each([
  ['setValue', { key: 'a/../b', value: 1 }, 'input.key'],
  ['markNotificationsRead', { ids: ['one'] }, 'input.ids'],
  ['markNotificationsRead', { ids: ['1.5'] }, 'input.ids'],
  ['markNotificationsRead', { ids: ['9007199254740993'] }, 'input.ids'],
  ['markNotificationsRead', { ids: ['9007199254740994'] }, 'input.ids'],
  ['registerDevice', { deviceId: '' }, 'input.deviceId'],
])('%s with the invalid input %j is not sent', async (field, input, argument) => {
  app.sandbox.clearCalls();
  const { errors } = await app.query(documentOf(field), { token, variables: { input } });
  expect(errors[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT', retryable: false, argument });
  expect(app.sandbox.calls()).toBe(0);
});

test('notification ids are exact numbers up to ±2^53', async () => {
  app.sandbox.clearCalls();
  const variables = { input: { ids: ['9007199254740992', '-9007199254740992', '0'] } };
  const document = documentOf('markNotificationsRead');
  const { errors } = await app.query(document, { token, variables });
  expect(errors).toEqual([]);
  const [{ body = '' } = {}] = app.sandbox.requests('markNotificationsRead');
  expect(body).toBe('{"ids":[9007199254740992,-9007199254740992,0]}');
});

test('registerDevice needs no token, and does not use the token of a login in the same request', async () => {
  app.sandbox.clearCalls();
  const register = `registerDevice(input: { deviceId: "d" }) ${OUTCOME}`;
  const { data, errors } = await app.query(`mutation {
    login(input: { email: "demo@example.com", password: "demo" }) { __typename }
    ${register}
  }`);
  expect(errors).toEqual([]);
  expect(data.registerDevice).toEqual({ __typename: 'Acknowledged', success: true });
  expect(app.sandbox.requests('registerDevice')[0]?.headers).not.toHaveProperty('authorization');
  const expired = app.sandbox.token({ login: 700001, expiresInSeconds: -60 });
  const refused = await app.query(`mutation { ${register} }`, { token: expired });
  expect(refused.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
  expect(app.sandbox.calls('registerDevice')).toBe(1);
});

test('a write that cannot connect is reported as not executed', async () => {
  await using own = await startTestApp();
  const demo = own.sandbox.token({ email: 'demo@example.com' });
  await own.sandbox.close();
  const document = `mutation { setValue(input: { key: "k" }) ${OUTCOME} }`;
  const { errors } = await own.query(document, { token: demo });
  const unavailable = { code: 'GATEWAY_UNAVAILABLE', retryable: true };
  expect(errors[0]?.extensions).toEqual({ ...unavailable, operation: 'setValue' });
});

const marketOrder = (key: string, units: number) =>
  `placeOrder(input: {
    symbol: "AAPL", side: BUY, kind: MARKET, size: { units: ${units} }, idempotencyKey: "${keyOf(key)}"
  }) { __typename ... on OrderAccepted { orderId } }`;

test.each(TRANSPORTS.filter(([transport]) => transport !== 'GET'))(
  'by %s an executed order is answered next to an order refused for its input',
  async (transport, ask) => {
    const query = `mutation {
      a: ${marketOrder(`a ${transport}`, 1)}
      b: ${marketOrder(`b ${transport}`, -1)}
      c: ${marketOrder(`c ${transport}`, 2)}
    }`;
    const { data, errors } = await ask(app, { query }, token);
    const accepted = { __typename: 'OrderAccepted', orderId: expect.any(String) };
    expect(data).toEqual({ a: accepted, b: null, c: accepted });
    expect(errors).toMatchObject([
      { path: ['b'], extensions: { code: 'BAD_USER_INPUT', argument: 'input.size.units' } },
    ]);
  },
);

test('a login is answered even if the session that it selects cannot be read', async () => {
  app.sandbox.fail({ operation: 'getSession', kind: 'status', status: 403 });
  const { data, errors } = await app.query(
    `mutation { login(input: { email: "demo@example.com", password: "demo" }) {
      ... on LoginSuccess { accessToken session { login } }
    } }`,
  );
  expect(data.login).toEqual({ accessToken: expect.any(String), session: null });
  expect(errors).toMatchObject([
    { path: ['login', 'session'], extensions: { code: 'FORBIDDEN', operation: 'getSession' } },
  ]);
});
