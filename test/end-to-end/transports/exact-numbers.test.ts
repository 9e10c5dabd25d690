import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
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

// JavaScript would round or lose these JSON numbers.
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
const CHANGED = ['1e400', '-1e400', '1e-400', '12345678901234567890', '0.1000000000000000055'];

const FIND = `query ($ids: [ID!], $sectors: [Float!]) {
  instruments(filter: { ids: $ids, sectors: $sectors }) { totalCount }
}`;
const SET = 'mutation ($input: SetValueInput!) { setValue(input: $input) { __typename } }';
const BUY = 'mutation ($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
const order = (more: object) => ({
  ...{ symbol: 'AAPL', side: 'BUY', size: { units: 1 }, idempotencyKey: 'exact-1' },
  ...more,
});
const writing = TRANSPORTS.filter(([transport]) => transport !== 'GET');

describe.each(TRANSPORTS)('by %s', (_transport, ask) => {
  test.each(CHANGED)('%s in a variable is refused, and its argument named', async (text) => {
    const variables = { sectors: [1, rawJSON(text)] };
    const { errors } = await ask(app, { query: FIND, variables }, token);
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining('a number that cannot be carried exactly'),
        extensions: { code: 'BAD_USER_INPUT', retryable: false, argument: 'filter.sectors[1]' },
      },
    ]);
    expect(app.sandbox.calls()).toBe(0);
  });

  test('numbers that are long or have an exponent, and survive, are taken', async () => {
    const variables = { sectors: ['1.500000000000000000', '1e3', '1E-2', '1e21'].map(rawJSON) };
    const { errors, data } = await ask(app, { query: FIND, variables }, token);
    expect(errors).toBeUndefined();
    expect(data.instruments).toEqual({ totalCount: 0 });
  });

  test.each(CHANGED)('%s in a document is refused, and its argument named', async (text) => {
    const query = `{ instruments(filter: { sectors: [1, ${text}] }) { totalCount } }`;
    const { errors } = await ask(app, { query }, token);
    expect(errors).toMatchObject([
      { extensions: { code: 'BAD_USER_INPUT', retryable: false, argument: 'filter.sectors' } },
    ]);
    expect(app.sandbox.calls()).toBe(0);
  });
});

describe.each(writing)('a write by %s', (_transport, ask) => {
  test('never sends an order with another number than the client’s', async () => {
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

  test('never stores another value than the client’s', async () => {
    const values = ['1e400', '[1,{"a":12345678901234567890}]', '{"deep":[[1e-400]]}'];
    for (const value of values) {
      const variables = { input: { key: 'k', value: rawValue(value) } };
      const { errors } = await ask(app, { query: SET, variables }, token);
      expect(errors?.[0]?.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        argument: 'input.value',
      });
      const query = `mutation { setValue(input: { key: "k", value: ${literal(value)} }) { __typename } }`;
      const written = await ask(app, { query }, token);
      expect(written.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
      expect(written.errors?.[0]?.extensions.argument).toMatch(/^input\.value/);
    }
    expect(app.sandbox.calls()).toBe(0);
  });

  test.each(['UP', '{ a: UP }', '[1, [UP]]'])(
    'refuses a word without quotes: %s',
    async (value) => {
      const query = `mutation { setValue(input: { key: "k", value: ${value} }) { __typename } }`;
      const { errors } = await ask(app, { query }, token);
      expect(errors?.[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(errors?.[0]?.message).toMatch(/UP/);
      expect(app.sandbox.calls()).toBe(0);
    },
  );

  test('stores texts and exact numbers as they are', async () => {
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

test('a number that is a variable’s default is refused, under the argument that it is for', async () => {
  const query =
    'query ($s: Float! = 1e400) { instruments(filter: { sectors: [$s] }) { totalCount } }';
  const { errors } = await app.query(query, { token });
  expect(errors).toMatchObject([
    {
      locations: [{ line: 1 }],
      extensions: { code: 'BAD_USER_INPUT', argument: 'filter.sectors' },
    },
  ]);
});

test('a number may stand deeper than the stack is', async () => {
  const deep = `${'['.repeat(60_000)}1e400${']'.repeat(60_000)}`;
  const body = `{"query":"{ customerId }","extensions":{"deep":${deep}}}`;
  const { text } = await rawPost(`${app.url}/graphql`, body, { authorization: `Bearer ${token}` });
  expect(JSON.parse(text)).toMatchObject({ data: { customerId: expect.any(String) } });
  using socket = await initializedSocket(app, token);
  socket.say(`{"id":"1","type":"subscribe","payload":${body}}`);
  expect((await socket.until('1', 'next')).payload.data).toBeDefined();
});

/** Serializes to JSON with numbers as they are written. */
function rawValue(text: string): unknown {
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { source?: string }) =>
    typeof value === 'number' ? rawJSON(`${source}`) : value) as Parameters<typeof JSON.parse>[1]);
}

/** Serializes to a GraphQL literal: names without quotes. */
function literal(json: string): string {
  return json.replace(/"(\w+)":/g, '$1:');
}
