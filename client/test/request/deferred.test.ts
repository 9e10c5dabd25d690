import { ApolloClient, CombinedGraphQLErrors, gql, InMemoryCache } from '@apollo/client';
import { Defer20220824Handler } from '@apollo/client/incremental';
import { afterEach, expect, test } from 'vitest';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startHeldGateway } from '../../../test/support/held-gateway.ts';
import { startedOnce } from '../../../test/support/started.ts';
import { tradingGraphLink } from '../../src/apollo/trading-graph-link.ts';
import { createClientWith } from '../../src/core-client.ts';

const sandbox = startedOnce(() => startSandbox({ tickMs: 0 }));
const gateway = startedOnce(() => startHeldGateway(sandbox));
const app = startedOnce(() =>
  startTestApp({ GATEWAY_URL: gateway.url, GATEWAY_TIMEOUT_MS: '60000' }, { gateway: sandbox }),
);
afterEach(() => gateway.release());

const SCREEN = `query Screen {
  session { id balance }
  ...Payout @defer(label: "payout")
}
fragment Payout on Query { customerId withdrawalMethods { id } }`;

// biome-ignore lint/suspicious/noExplicitAny: each library has a type of its own for a result
type Data = any;

test('with `onPart` the client passes on each part of an answer, and otherwise only the whole answer', async () => {
  gateway.hold('getWithdrawalMethods', 'getCustomerId');
  const token = sandbox.token({ email: 'demo@example.com' });
  const client = createClientWith({ url: `${app.url}/graphql`, token: () => token });
  const drawn: Data[] = [];
  const whole = client.query<Data>(SCREEN, undefined, { onPart: (soFar) => drawn.push(soFar) });
  await eventually(() => drawn.length === 1 && gateway.waiting > 0);
  expect(drawn[0]).toEqual({
    data: { session: { id: '700001', balance: expect.any(Number) } },
    errors: [],
  });
  gateway.release();
  const { data, errors } = await whole;
  expect(errors).toEqual([]);
  expect(data).toMatchObject({ session: { id: '700001' }, customerId: 'cus_700001' });
  expect(await client.query(SCREEN)).toEqual({ data, errors });
  sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500 });
  const failed = await client.query<Data>(SCREEN, undefined, { onPart: () => {} });
  sandbox.clearFaults();
  expect(failed.data).toMatchObject({ customerId: null, withdrawalMethods: expect.any(Array) });
  expect(failed.errors).toMatchObject([{ code: 'GATEWAY_UNAVAILABLE', path: ['customerId'] }]);
  client.dispose();
});

test('over the client’s link Apollo Client reports the error of each part once', async () => {
  const token = sandbox.token({ email: 'demo@example.com' });
  const client = createClientWith({ url: `${app.url}/graphql`, token: () => token });
  const apollo = new ApolloClient({
    link: tradingGraphLink(client),
    cache: new InMemoryCache(),
    incrementalHandler: new Defer20220824Handler(),
  });
  sandbox.fail({ operation: 'getSession', kind: 'status', status: 500 });
  sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 500 });
  const { data, error } = await apollo.query<Data>({
    query: gql(SCREEN),
    errorPolicy: 'all',
    fetchPolicy: 'no-cache',
  });
  sandbox.clearFaults();
  expect(data).toMatchObject({ session: null, withdrawalMethods: expect.any(Array) });
  const refused = { code: 'GATEWAY_UNAVAILABLE', retryable: true, requestId: expect.any(String) };
  expect(CombinedGraphQLErrors.is(error) && error.errors).toMatchObject([
    { path: ['session'], extensions: { ...refused, operation: 'getSession' } },
    { path: ['customerId'], extensions: { ...refused, operation: 'getCustomerId' } },
  ]);
  client.dispose();
});
