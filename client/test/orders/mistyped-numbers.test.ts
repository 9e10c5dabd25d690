import { CombinedGraphQLErrors, gql } from '@apollo/client';
import { beforeEach, expect, test } from 'vitest';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { createClient } from '../../src/create-client.ts';
import { startApolloDevice } from '../apollo/apollo-device.ts';
import { signedIn } from '../support/client.ts';
import { countedEnvironment } from '../support/counted-environment.ts';

const PLACE =
  'mutation Place($input: PlaceOrderInput!) { placeOrder(input: $input) { __typename } }';

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
  return { ...signedIn(app), environment: countedEnvironment({ fetch: counted }) };
};

test('an empty field of a form, sent by the link of Apollo Client, is refused before anything is sent', async () => {
  using device = startApolloDevice(options());
  const stopLoss = { price: Number.parseFloat('') };
  const order = { symbol: 'AAPL', side: 'BUY', size: { amount: 10 } };
  const input = { ...order, idempotencyKey: 'k', stopLoss };
  const sent = device.apollo.mutate({ mutation: gql(PLACE), variables: { input } });
  const error: unknown = await sent.catch((thrown: unknown) => thrown);
  expect(CombinedGraphQLErrors.is(error) && error.errors[0]?.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    retryable: false,
    argument: 'input.stopLoss.price',
  });
  expect(requests).toBe(0);
});

test('a number that is not finite is found wherever it is, and a subscription ends with it', async () => {
  const client = createClient(options());
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
