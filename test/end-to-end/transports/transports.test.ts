import { describe, expect, test } from 'vitest';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { unsignedToken } from '../../support/tokens.ts';
import { codesOf, TRANSPORTS } from '../limits/every-transport.ts';

const app = sharedApp({ INTROSPECTION: 'off' });

describe.each(TRANSPORTS)('%s', (_name, ask) => {
  const demo = () => app.sandbox.token({ email: 'demo@example.com' });

  test('answers', async () => {
    const operation = {
      query: 'query ($id: ID!) { customerId instrument(id: $id) { name } }',
      variables: { id: 'AAPL' },
    };
    const { data, errors } = await ask(app, operation, demo());
    expect(errors).toBeUndefined();
    expect(data).toEqual({ customerId: 'cus_700001', instrument: { name: 'Apple Inc.' } });
  });

  test('refuses requests without a token, or with a forged one', async () => {
    await ask(app, { query: '{ catalog { group } }' }, demo());
    const query =
      '{ session { login } positions { id } catalog { group } instrument(id: "AAPL") { id } }';
    for (const token of [undefined, unsignedToken({ login: 700001, group: 'standard-usd' })]) {
      const result = await ask(app, { query }, token);
      expect(result.data).toEqual({
        session: null,
        positions: null,
        catalog: null,
        instrument: null,
      });
      expect(new Set(codesOf(result))).toEqual(new Set(['UNAUTHENTICATED']));
    }
  });

  test.each([
    ['a typo', { query: '{ nope }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['a half document', { query: '{' }, 'GRAPHQL_PARSE_FAILED'],
    [
      'introspection',
      { query: '{ __schema { queryType { name } } }' },
      'GRAPHQL_VALIDATION_FAILED',
    ],
    [
      'a wrong variable',
      { query: 'query ($a: Int!) { session(maxAge: $a) { id } }' },
      'BAD_USER_INPUT',
    ],
  ])('refuses %s with its code', async (_what, operation, code) => {
    app.sandbox.clearCalls();
    const result = await ask(app, operation, demo());
    expect(result.data ?? null).toBeNull();
    expect(new Set(codesOf(result))).toEqual(new Set([code]));
    expect(app.sandbox.calls()).toBe(0);
  });

  test('answers the fields that succeed beside the same error of one that fails', async () => {
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 403, times: 1 });
    const { data, errors } = await ask(app, { query: '{ customerId session { login } }' }, demo());
    expect(data).toEqual({ customerId: null, session: { login: '700001' } });
    expect(errors).toEqual([
      {
        message: 'The gateway does not allow this.',
        locations: [{ line: 1, column: 3 }],
        path: ['customerId'],
        extensions: {
          code: 'FORBIDDEN',
          retryable: false,
          operation: 'getCustomerId',
          gatewayError: { error: 'FORBIDDEN', message: 'The sandbox was told to.' },
        },
      },
    ]);
  });
});

test.each(['GET', 'POST'])(
  '%s with a slash at the end is sent to /graphql, as it is',
  async (method) => {
    const query = '?query=%7B__typename%7D';
    const { status, headers } = await rawRequest(`${app.url}/graphql/${query}`, { method });
    expect({ status, location: headers.location }).toEqual({
      status: 308,
      location: `/graphql${query}`,
    });
    const followed = await fetch(`${app.url}/graphql/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"query":"{ __typename }"}',
    });
    expect(await followed.json()).toMatchObject({ data: { __typename: 'Query' } });
  },
);
