import { CombinedGraphQLErrors, gql } from '@apollo/client';
import { beforeEach, describe, expect, test } from 'vitest';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { createClient } from '../../src/create-client.ts';
import { startApolloDevice } from '../apollo/apollo-device.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const PLACE =
  'mutation Place($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';
const EMPTY = Number.parseFloat('');

/** What the form of an app made of empty fields, and the path of the first. */
const MISTYPED = [
  ['a price', { price: EMPTY }, 'input.price'],
  ['a stop-loss', { stopLoss: EMPTY }, 'input.stopLoss'],
  ['the price of a stop-loss', { stopLoss: { price: Number.NaN } }, 'input.stopLoss.price'],
  ['the amount of a take-profit', { takeProfit: { amount: EMPTY } }, 'input.takeProfit.amount'],
  ['a price that is infinite', { price: 1 / 0 }, 'input.price'],
] as const;

type Variables = { readonly input: object };
/** Sends an order; returns the code and the argument that the app sees. */
type Send = (variables: Variables) => Promise<unknown>;

const app = sharedApp();
let requests: number;

beforeEach(() => {
  requests = 0;
});

const options = () => {
  const counted: typeof fetch = (...of) => {
    requests += 1;
    return fetch(...of);
  };
  const token = app.sandbox.token({ email: 'demo@example.com' });
  return { url: `${app.url}/graphql`, fetch: counted, token };
};

async function byApolloLink(variables: Variables): Promise<unknown> {
  const { url, fetch, token } = options();
  using device = startApolloDevice({
    url,
    token: () => token,
    environment: countedEnvironment({ fetch }),
  });
  const sent = device.apollo.mutate({ mutation: gql(PLACE), variables });
  const error: unknown = await sent.catch((thrown: unknown) => thrown);
  return CombinedGraphQLErrors.is(error) ? error.errors[0]?.extensions : error;
}

async function byOurs(variables: Variables): Promise<unknown> {
  const { url, fetch, token } = options();
  const client = createClient({
    url,
    token: () => token,
    environment: countedEnvironment({ fetch }),
  });
  const { errors } = await client.mutate<unknown, Variables>(PLACE, variables);
  client.dispose();
  const [error] = errors;
  return { code: error?.code, retryable: error?.retryable, ...error?.extensions };
}

const order = (fields: object) => ({
  input: { symbol: 'AAPL', side: 'BUY', size: { amount: 10 }, idempotencyKey: 'k', ...fields },
});

describe.each<[string, Send]>([
  ['the link of Apollo Client', byApolloLink],
  ['the client', byOurs],
])('a number that was mistyped, sent by %s', (_client, send) => {
  test.each(MISTYPED)('as %s, is refused before anything is sent', async (_what, fields, path) => {
    const error = await send(order(fields));
    const expected = { code: 'BAD_USER_INPUT', retryable: false, argument: path };
    expect(error).toMatchObject(expected);
    expect(requests).toBe(0);
  });
});

test('a number that is not finite is found wherever it is, and a subscription ends with it', async () => {
  const { url, fetch, token } = options();
  const client = createClient({
    url,
    token: () => token,
    environment: countedEnvironment({ fetch }),
  });
  const refusedFor = async (variables: object) => {
    const { errors } = await client.query<unknown, object>('{ __typename }', variables);
    return errors[0]?.extensions.argument;
  };
  expect(await refusedFor({ of: [1, { deep: [Number.NaN] }] })).toBe('of[1].deep[0]');
  expect(await refusedFor({ boxed: new Number(Number.NaN) })).toBe('boxed');
  expect(await refusedFor({ own: { toJSON: () => -1 / 0 } })).toBe('own');
  expect(requests).toBe(0);
  expect(await refusedFor({ own: { toJSON: () => 'text', NaN: Number.NaN } })).toBeUndefined();
  expect(await refusedFor({ none: null, left: undefined, at: new Date(0) })).toBeUndefined();
  const ended = await new Promise((resolve) => {
    client.subscribe(
      'subscription ($ms: Int) { positions(intervalMs: $ms) { id } }',
      () => ({ ms: Number.NaN }),
      { next: () => {}, ended: resolve },
    );
  });
  expect(ended).toMatchObject({ code: 'BAD_USER_INPUT', extensions: { argument: 'ms' } });
  client.dispose();
});
