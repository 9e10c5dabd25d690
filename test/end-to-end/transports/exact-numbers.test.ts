import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { keyOf } from '../../support/order-keys.ts';
import { rawPost } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { TRANSPORTS } from '../limits/every-transport.ts';
import { initializedSocket } from '../live/raw-socket.ts';

const app = sharedApp();
let token: string;
beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearCalls());

// The types of TypeScript lack `JSON.rawJSON`.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
/** JSON numbers that JavaScript would round or lose. */
const INEXACT = ['1e400', '-1e400', '1e-400', '12345678901234567890', '0.1000000000000000055'];

const FIND = `query ($ids: [ID!], $sectors: [Float!]) {
  instruments(filter: { ids: $ids, sectors: $sectors }) { totalCount }
}`;
const SET = 'mutation ($input: SetValueInput!) { setValue(input: $input) { __typename } }';
const BUY = 'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
const order = (more: object) => ({
  symbol: 'AAPL',
  side: 'BUY',
  kind: 'MARKET',
  size: { units: 1 },
  idempotencyKey: keyOf('exact'),
  ...more,
});
const WRITE_TRANSPORTS = TRANSPORTS.filter(([transport]) => transport !== 'GET');

test.each(TRANSPORTS)(
  'by %s only a number that JavaScript keeps exactly is accepted',
  async (_transport, ask) => {
    for (const text of INEXACT) {
      const variables = { sectors: [1, rawJSON(text)] };
      const inVariable = await ask(app, { query: FIND, variables }, token);
      expect(inVariable.errors, text).toMatchObject([
        {
          message: expect.stringContaining('a number that cannot be carried exactly'),
          extensions: { code: 'BAD_USER_INPUT', retryable: false, argument: 'filter.sectors[1]' },
        },
      ]);
      const query = `{ instruments(filter: { sectors: [1, ${text}] }) { totalCount } }`;
      const inDocument = await ask(app, { query }, token);
      expect(inDocument.errors, text).toMatchObject([
        { extensions: { code: 'BAD_USER_INPUT', retryable: false, argument: 'filter.sectors' } },
      ]);
    }
    const withDefault =
      'query ($s: Float! = 1e400) { instruments(filter: { sectors: [$s] }) { totalCount } }';
    const defaulted = await ask(app, { query: withDefault }, token);
    expect(defaulted.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(app.sandbox.calls()).toBe(0);
    // These numbers are exact, however they are written.
    const variables = { sectors: ['1.500000000000000000', '1e3', '1E-2', '1e21'].map(rawJSON) };
    const { errors, data } = await ask(app, { query: FIND, variables }, token);
    expect(errors).toBeUndefined();
    expect(data.instruments).toEqual({ totalCount: 0 });
  },
);

describe.each(WRITE_TRANSPORTS)('a write by %s', (_transport, ask) => {
  test('never sends an order with a different number', async () => {
    for (const [more, argument] of [
      [{ size: { units: rawJSON('1e400') } }, 'input.size.units'],
      [{ size: { amount: rawJSON('100.00000000000000001') } }, 'input.size.amount'],
      [{ price: rawJSON('12345678901234567890') }, 'input.price'],
      [{ takeProfit: { price: rawJSON('1e-400') } }, 'input.takeProfit.price'],
    ] as const) {
      const { errors } = await ask(app, { query: BUY, variables: { input: order(more) } }, token);
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument });
    }
    expect(app.sandbox.calls()).toBe(0);
  });

  test('stores neither a value with an inexact number nor a word without quotes', async () => {
    const longNumber = '12345678901234567890';
    for (const [value, literal] of [
      [rawJSON('1e400'), '1e400'],
      [[1, { a: rawJSON(longNumber) }], `[1, { a: ${longNumber} }]`],
      [{ deep: [[rawJSON('1e-400')]] }, '{ deep: [[1e-400]] }'],
    ]) {
      const variables = { input: { key: 'k', value } };
      const inVariable = await ask(app, { query: SET, variables }, token);
      const query = `mutation { setValue(input: { key: "k", value: ${literal} }) { __typename } }`;
      for (const { errors } of [inVariable, await ask(app, { query }, token)]) {
        expect(errors?.[0]?.extensions).toMatchObject({
          code: 'BAD_USER_INPUT',
          argument: expect.stringMatching(/^input\.value/),
        });
      }
    }
    for (const value of ['UP', '{ a: UP }', '[1, [UP]]']) {
      const query = `mutation { setValue(input: { key: "k", value: ${value} }) { __typename } }`;
      const { errors } = await ask(app, { query }, token);
      expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(errors?.[0]?.message).toMatch(/UP/);
    }
    expect(app.sandbox.calls()).toBe(0);
  });

  test('stores texts and exact numbers unchanged', async () => {
    const value = {
      text: 'x: 1e400, 12345678901234567890',
      exact: rawJSON('1e3'),
      long: 1.5,
      'key: 1e400': null,
    };
    const variables = { input: { key: 'k', value } };
    const { errors } = await ask(app, { query: SET, variables }, token);
    expect(errors).toBeUndefined();
    expect(JSON.parse(`${app.sandbox.requests('setValue')[0]?.body}`)).toEqual({
      value: { ...value, exact: 1000 },
    });
  });
});

test('a number can be nested more deeply than the stack of JavaScript allows', async () => {
  const deep = `${'['.repeat(60_000)}1e400${']'.repeat(60_000)}`;
  const body = `{"query":"{ customerId }","extensions":{"deep":${deep}}}`;
  const { text } = await rawPost(`${app.url}/graphql`, body, { authorization: `Bearer ${token}` });
  expect(JSON.parse(text)).toMatchObject({ data: { customerId: expect.any(String) } });
  using socket = await initializedSocket(app, token);
  socket.send(`{"id":"1","type":"subscribe","payload":${body}}`);
  expect((await socket.until('1', 'next')).payload.data).toBeDefined();
});
