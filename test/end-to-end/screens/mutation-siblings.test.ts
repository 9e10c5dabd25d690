import { afterEach, describe, expect, test } from 'vitest';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp({ LOGIN_LIMIT_PER_MINUTE: '1000' });

afterEach(() => app.sandbox.clearFaults());

const market = (key: string, units: number) =>
  `placeOrder(input: {
    symbol: "AAPL", side: BUY, size: { units: ${units} }, idempotencyKey: "${key}"
  }) { __typename ... on OrderAccepted { orderId } }`;

/** The ten mutations, each with its operation of the gateway. */
const MUTATIONS: readonly (readonly [OperationName, string])[] = [
  ['login', 'login(input: { email: "demo@example.com", password: "demo" }) { __typename }'],
  ['forgotPassword', 'forgotPassword(input: { email: "demo@example.com" }) { __typename }'],
  ['openPosition', market('siblings-market', 1)],
  [
    'placeLimitOrder',
    'placeLimitOrder(input: { symbol: "AAPL", side: BUY, amount: 1, price: 1, idempotencyKey: "siblings-limit" }) { __typename }',
  ],
  [
    'resetTradingAccountPassword',
    'resetTradingAccountPassword(input: { accountExternalId: "700001" }) { __typename }',
  ],
  [
    'addCryptoWallet',
    'addCryptoWallet(input: { address: "bc1qxy2kgdygjrsqtzq2n" }) { __typename }',
  ],
  ['addMobileWallet', 'addMobileWallet(input: { phone: "+49 151 1234567" }) { __typename }'],
  ['setValue', 'setValue(input: { key: "failing", value: 1 }) { __typename }'],
  ['markNotificationsRead', 'markNotificationsRead(input: { ids: [1] }) { __typename }'],
  ['registerDevice', 'registerDevice(input: { deviceId: "d" }) { __typename }'],
];

describe.each(TRANSPORTS.filter(([transport]) => transport !== 'GET'))(
  'by %s',
  (transport, ask) => {
    const demo = () => app.sandbox.token({ email: 'demo@example.com' });

    test('an executed order is answered beside one that is refused for its input', async () => {
      const query = `mutation { a: ${market(`a ${transport}`, 1)} b: ${market(`b ${transport}`, -1)} c: ${market(`c ${transport}`, 2)} }`;
      const { data, errors } = await ask(app, { query }, demo());
      const accepted = { __typename: 'OrderAccepted', orderId: expect.any(String) };
      expect(data).toEqual({ a: accepted, b: null, c: accepted });
      expect(errors).toMatchObject([
        { path: ['b'], extensions: { code: 'BAD_USER_INPUT', argument: 'input.size.units' } },
      ]);
    });

    test.each(MUTATIONS)(
      'an error of %s keeps the outcomes of its siblings',
      async (operation, field) => {
        const sibling = operation === 'registerDevice' ? 'addMobileWallet' : 'registerDevice';
        const acknowledged =
          sibling === 'registerDevice'
            ? 'registerDevice(input: { deviceId: "sibling" }) { __typename }'
            : 'addMobileWallet(input: { phone: "+49 151 7654321" }) { __typename }';
        app.sandbox.fail({ operation, kind: 'status', status: 429 });
        const query = `mutation { before: ${acknowledged} failing: ${field} after: ${acknowledged} }`;
        const { data, errors } = await ask(app, { query }, demo());
        const done = { __typename: 'Acknowledged' };
        expect(data).toEqual({ before: done, failing: null, after: done });
        expect(errors).toMatchObject([
          { path: ['failing'], extensions: { code: 'RATE_LIMITED', operation } },
        ]);
      },
    );
  },
);

test('every type that refuses is a Refusal', async () => {
  for (const operation of ['login', 'setValue', 'openPosition'] as const) {
    const body = { error: 'NO', message: 'Not this.' };
    app.sandbox.fail({ operation, kind: 'status', status: 422, body });
  }
  const words = '{ __typename ... on Refusal { error message } }';
  const { data, errors } = await app.query(
    `mutation {
      login(input: { email: "demo@example.com", password: "demo" }) ${words}
      setValue(input: { key: "k" }) ${words}
      placeOrder(input: { symbol: "AAPL", side: BUY, size: { units: 1 }, idempotencyKey: "refusal" }) ${words}
    }`,
    { token: app.sandbox.token({ email: 'demo@example.com' }) },
  );
  expect(errors).toEqual([]);
  expect(data).toEqual({
    login: { __typename: 'LoginRejected', error: 'NO', message: 'Not this.' },
    setValue: { __typename: 'Rejected', error: 'NO', message: 'Not this.' },
    placeOrder: { __typename: 'OrderRejected', error: 'NO', message: 'Not this.' },
  });
});
