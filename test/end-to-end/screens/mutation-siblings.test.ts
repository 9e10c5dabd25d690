import { isNonNullType } from 'graphql';
import { afterEach, describe, expect, test } from 'vitest';
import { buildSchema } from '../../../src/schema/schema.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp({ LOGIN_LIMIT_PER_MINUTE: '1000' });

afterEach(() => app.sandbox.clearFaults());

const market = (key: string, units: number) =>
  `placeOrder(input: {
    symbol: "AAPL", side: BUY, size: { units: ${units} }, idempotencyKey: "${key}"
  }) { __typename ... on OrderAccepted { orderId } }`;

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
  },
);

test('any field of a mutation may be null, so that its error keeps the outcomes of its siblings', () => {
  const fields = Object.values(buildSchema().getMutationType()?.getFields() ?? {});
  expect(fields.length).toBeGreaterThan(10);
  expect(fields.filter(({ type }) => isNonNullType(type))).toEqual([]);
});

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
