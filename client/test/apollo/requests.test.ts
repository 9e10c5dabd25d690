import { gql } from '@apollo/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { newKey } from '../../../test/support/order-keys.ts';
import { ownApp } from '../../../test/support/shared-app.ts';
import { startedForEach } from '../../../test/support/started.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { type ApolloDevice, startApolloDevice } from './apollo-device.ts';

const HOME = gql`
  query Home {
    session { balance }
    positions { id symbol instrument { id name } }
    orders { id symbol }
    catalog { size }
  }
`;
const PLACE = gql`
  mutation Place($input: PlaceOrderInput!) {
    placeOrder(input: $input) {
      ... on OrderOutcome { idempotencyKey replayed }
      ... on OrderAccepted { orderId session { balance } }
      ... on OrderRejected { error }
      ... on OrderOutcomeUnknown { sentAt }
    }
  }
`;

const app = ownApp();
const proxy = startedForEach(() => startCutProxy(app.url));
let device: ApolloDevice;
let token: string | null;

beforeEach(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
  // Skips the pauses between attempts, but not the timeouts, which are 15 seconds or longer.
  const hurried = countedEnvironment({ hurry: (ms) => (ms < 15_000 ? 0 : ms) });
  device = startApolloDevice(`${proxy.url}/graphql`, () => token, hurried);
});
afterEach(() => {
  vi.restoreAllMocks();
  device[Symbol.dispose]();
});

function order(symbol: string, idempotencyKey = newKey()) {
  return { input: { symbol, side: 'BUY', kind: 'MARKET', size: { units: 1 }, idempotencyKey } };
}

describe('the first screen', () => {
  test('stores its rows in the cache by type and id, and one session of the account', async () => {
    const { data } = await device.apollo.query<{ positions: readonly { id: string }[] }>({
      query: HOME,
    });
    const cache = device.apollo.extract() as Record<string, object>;
    expect(data?.positions).toHaveLength(6);
    for (const { id } of data?.positions ?? []) expect(cache).toHaveProperty([`Position:${id}`]);
    expect(cache).toHaveProperty(['Instrument:AAPL']);
    expect(Object.keys(cache).filter((key) => key.startsWith('Session'))).toEqual(['Session:{}']);
    expect(cache['Session:{}']).toHaveProperty('balance');
    await device.apollo.query({ query: gql`{ session(maxAge: 0) { id equity } }` });
    expect(device.apollo.extract()).toMatchObject({
      'Session:{}': { balance: expect.any(Number), equity: expect.any(Number), id: '700001' },
    });
  });
});

describe('an order', () => {
  test.each([
    ['AAPL', { __typename: 'OrderAccepted', orderId: expect.any(String) }],
    ['TEST.REJECT', { __typename: 'OrderRejected', error: expect.any(String) }],
    ['TEST.UNKNOWN', { __typename: 'OrderOutcomeUnknown', sentAt: expect.any(String) }],
  ])(
    'of %s shows its outcome, including the fields of the interface `OrderOutcome`',
    async (symbol, outcome) => {
      const idempotencyKey = newKey();
      const { data } = await device.apollo.mutate<{ placeOrder: object }>({
        mutation: PLACE,
        variables: order(symbol, idempotencyKey),
      });
      expect(data?.placeOrder).toMatchObject({ ...outcome, idempotencyKey, replayed: false });
      // The cache keeps the fields of an interface only if it knows the interface's types.
      const asked = gql`query { placedOrder(idempotencyKey: "${idempotencyKey}") { ... on OrderOutcome { idempotencyKey replayed } } }`;
      const { data: cached } = await device.apollo.query<{ placedOrder: object }>({ query: asked });
      expect(cached?.placedOrder).toMatchObject({ idempotencyKey, replayed: true });
    },
  );
});

describe('a token', () => {
  test('is not needed for signing in', async () => {
    token = null;
    const login = gql`mutation { login(input: { email: "demo@example.com", password: "demo" }) { ... on LoginSuccess { accessToken } } }`;
    const { data } = await device.apollo.mutate<{ login: { accessToken: string } }>({
      mutation: login,
      context: { anonymous: true },
    });
    expect(data?.login.accessToken).toBeTypeOf('string');
    expect(device.signedOut).toEqual([]);
  });
});

describe('a query', () => {
  test('is aborted by its signal, and when its subscriber leaves', async () => {
    for (const operation of ['getOpenPositions', 'getCustomerId'] as const) {
      app.sandbox.fail({ operation, kind: 'delay', delayMs: 3_000 });
    }
    // Counts closed connections: Node's fetch opens a spare connection after an aborted request, which stays open.
    const closed = () => proxy.accepted - proxy.open;
    const abort = new AbortController();
    const failed = device.apollo.query({
      query: gql`{ positions { id } }`,
      context: { fetchOptions: { signal: abort.signal } },
    });
    // Aborts only after the request has reached the gateway. An earlier abort would leave the connection open and idle.
    await eventually(() => expect(app.sandbox.calls('getOpenPositions')).toBe(1));
    abort.abort();
    await expect(failed).rejects.toMatchObject({ code: 'ABORTED' });
    await eventually(() => closed() >= 1);
    const watching = device.apollo.watchQuery({ query: gql`{ customerId }` }).subscribe({});
    await eventually(() => expect(app.sandbox.calls('getCustomerId')).toBe(1));
    watching.unsubscribe();
    await eventually(() => expect(closed()).toBeGreaterThanOrEqual(2));
  });
});

test('two screens that select different fields of one object leave all of them in the cache', async () => {
  const warn = vi.spyOn(console, 'warn');
  const texts = [
    '{ session { balance access { name } } withdrawalMethods { title } }',
    '{ session { id equity access { id currency } } withdrawalMethods { id status } }',
    '{ catalog { size } instrument(id: "AAPL") { id swap { long } tradingHours { timezone } } }',
    '{ catalog { id version } instrument(id: "AAPL") { id swap { short } tradingHours { regular } } }',
  ];
  for (const text of texts) await device.apollo.query({ query: gql(text) });
  expect(
    device.apollo.readQuery({
      query: gql`{ session { balance equity access { name currency } } catalog { size version } }`,
    }),
  ).not.toBeNull();
  expect(
    device.apollo.readQuery({
      query: gql`{ instrument(id: "AAPL") { swap { long short } tradingHours { timezone regular } } }`,
    }),
  ).not.toBeNull();
  expect(warn).not.toHaveBeenCalled();
});
