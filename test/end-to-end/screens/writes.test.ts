import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
let token: string;

beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearFaults());

const OUTCOME = `{
  __typename
  ... on Acknowledged { success }
  ... on Rejected { error message details }
}`;
interface Write {
  readonly field: string;
  readonly operation: Parameters<TestApp['sandbox']['calls']>[0] & string;
  readonly input: Record<string, unknown>;
  readonly isHarmless: boolean;
}

const WRITES: readonly Write[] = [
  {
    field: 'resetTradingAccountPassword',
    operation: 'resetTradingAccountPassword',
    input: { accountExternalId: '700001' },
    isHarmless: false,
  },
  {
    field: 'addCryptoWallet',
    operation: 'addCryptoWallet',
    input: { address: 'bc1qxy2kgdygjrsqtzq2n0yrf2493p83kkfjhx0wlh' },
    isHarmless: false,
  },
  {
    field: 'addMobileWallet',
    operation: 'addMobileWallet',
    input: { phone: '+49 151 12345678' },
    isHarmless: false,
  },
  {
    field: 'setValue',
    operation: 'setValue',
    input: { key: 'theme', value: { dark: true, list: [1, null, 'x'] } },
    isHarmless: true,
  },
  {
    field: 'markNotificationsRead',
    operation: 'markNotificationsRead',
    input: { ids: [1, '2'] },
    isHarmless: true,
  },
  {
    field: 'registerDevice',
    operation: 'registerDevice',
    input: { deviceId: 'device-1', token: 'push', platform: 'IOS', enabled: true },
    isHarmless: true,
  },
];

describe.each(WRITES)('$field', ({ field, operation, input, isHarmless }) => {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
  const document = `mutation ($input: ${type}!) { ${field}(input: $input) ${OUTCOME} }`;
  const send = (value: Record<string, unknown>, as: string | null = token) =>
    app.query(document, { token: as, variables: { input: value } });

  test('is acknowledged', async () => {
    const { data, errors } = await send(input);
    expect(errors).toEqual([]);
    expect(data[field]).toEqual({ __typename: 'Acknowledged', success: true });
  });

  test('a refusal has the gateway’s own text', async () => {
    const body = { error: 'NOT_THIS', message: 'Not this one.', details: { why: ['so'] }, more: 1 };
    app.sandbox.fail({ operation, kind: 'status', status: 422, body });
    const { data, errors } = await send(input);
    expect(errors).toEqual([]);
    expect(data[field]).toEqual({
      __typename: 'Rejected',
      error: 'NOT_THIS',
      message: 'Not this one.',
      details: { why: ['so'] },
    });
  });

  test('`success: false` with 200 is a rejection', async () => {
    app.sandbox.fail({
      operation,
      kind: 'status',
      status: 200,
      body: { success: false, error: 'NO' },
    });
    const { data } = await send(input);
    expect(data[field]).toEqual({
      __typename: 'Rejected',
      error: 'NO',
      message: null,
      details: null,
    });
  });

  test.each([400, 404, 409, 422, 418])('a %s is a rejection', async (status) => {
    app.sandbox.fail({ operation, kind: 'status', status });
    expect((await send(input)).data[field]).toMatchObject({ __typename: 'Rejected' });
  });

  test.each([
    [401, { code: 'UNAUTHENTICATED', retryable: false }],
    [403, { code: 'FORBIDDEN', retryable: false }],
    [429, { code: 'RATE_LIMITED', retryable: true }],
    [408, { code: 'OUTCOME_UNKNOWN', retryable: isHarmless }],
    [500, { code: 'OUTCOME_UNKNOWN', retryable: isHarmless }],
    [503, { code: 'OUTCOME_UNKNOWN', retryable: isHarmless }],
    [302, { code: 'OUTCOME_UNKNOWN', retryable: isHarmless }],
  ])('a %s is an error', async (status, extensions) => {
    app.sandbox.fail({ operation, kind: 'status', status });
    // A token of its own, since a 401 ends a token's proof.
    const own = app.sandbox.token({ email: 'demo@example.com' });
    const { data, errors } = await send(input, own);
    expect(data).toEqual({ [field]: null });
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ path: [field], extensions: { ...extensions, operation } });
  });

  test.each(['garbage', 'empty', 'reset-after', 'cut', 'html', 'oversize'] as const)(
    'an answer that is %s leaves the outcome unknown',
    async (kind) => {
      app.sandbox.fail({ operation, kind, bytes: 9_000_000 });
      const { errors } = await send(input);
      expect(errors[0]?.extensions).toEqual({
        code: 'OUTCOME_UNKNOWN',
        retryable: isHarmless,
        operation,
      });
      expect(app.sandbox.requests(operation).length).toBeGreaterThan(0);
    },
  );

  test('is sent once, whatever the answer', async () => {
    app.sandbox.clearCalls();
    app.sandbox.fail({ operation, kind: 'status', status: 503 });
    await send(input);
    expect(app.sandbox.calls(operation)).toBe(1);
  });
});

test.each([
  ['resetTradingAccountPassword', { accountExternalId: '700002' }, 'ACCOUNT_NOT_FOUND'],
  ['addCryptoWallet', { address: 'short' }, 'INVALID_ADDRESS'],
  ['addMobileWallet', { phone: 'call me' }, 'INVALID_PHONE'],
])('%s of %j is refused with %s', async (field, input, error) => {
  const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
  const document = `mutation ($input: ${type}!) { ${field}(input: $input) ${OUTCOME} }`;
  const { data } = await app.query(document, { token, variables: { input } });
  expect(data[field]).toMatchObject({ __typename: 'Rejected', error, message: expect.any(String) });
});

describe('a device or a read notification', () => {
  const document = `mutation { registerDevice(input: { deviceId: "d" }) ${OUTCOME} }`;

  test('needs no token', async () => {
    const { data } = await app.query(document);
    expect(data.registerDevice).toEqual({ __typename: 'Acknowledged', success: true });
  });

  test('with an expired token is refused', async () => {
    app.sandbox.clearCalls();
    const expired = app.sandbox.token({ login: 700001, expiresInSeconds: -60 });
    const { errors } = await app.query(document, { token: expired });
    expect(errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    expect(app.sandbox.calls()).toBe(0);
  });

  test('beside a login is sent with the request’s own token, here none', async () => {
    app.sandbox.clearCalls();
    const { data, errors } = await app.query(`mutation {
      login(input: { email: "demo@example.com", password: "demo" }) { __typename }
      registerDevice(input: { deviceId: "d" }) ${OUTCOME}
    }`);
    expect(errors).toEqual([]);
    expect(data.registerDevice).toMatchObject({ __typename: 'Acknowledged' });
    expect(app.sandbox.requests('registerDevice')[0]?.headers).not.toHaveProperty('authorization');
  });
});

test('a value that is left out is stored as null', async () => {
  app.sandbox.clearCalls();
  await app.query(`mutation { setValue(input: { key: "k" }) ${OUTCOME} }`, { token });
  expect(app.sandbox.requests('setValue')[0]?.body).toBe('{"value":null}');
});

test('a write that cannot connect is known not to be carried out', async () => {
  await using own = await startTestApp();
  const demo = own.sandbox.token({ email: 'demo@example.com' });
  await own.sandbox.close();
  const { errors } = await own.query(`mutation { setValue(input: { key: "k" }) ${OUTCOME} }`, {
    token: demo,
  });
  expect(errors[0]?.extensions).toEqual({
    code: 'GATEWAY_UNAVAILABLE',
    retryable: true,
    operation: 'setValue',
  });
});
