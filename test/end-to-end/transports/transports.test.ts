import { createClient as createSseClient } from 'graphql-sse';
import { createClient } from 'graphql-ws';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { unsignedToken } from '../../support/tokens.ts';

const app = sharedApp({ INTROSPECTION: 'off' });

interface Result {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
}
interface Operation {
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}
type Ask = (operation: Operation, token: string | null) => Promise<Result>;

const bearer = (token: string | null) =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/** Every transport. */
const TRANSPORTS: readonly (readonly [string, Ask])[] = [
  [
    'POST',
    async (operation, token) =>
      JSON.parse((await rawPost(endpoint(), JSON.stringify(operation), bearer(token))).text),
  ],
  [
    'POST of the exact media type',
    async (operation, token) => {
      // An unusual header, so that the request misses the hot path.
      const headers = { ...bearer(token), accept: 'application/graphql-response+json;q=0.8' };
      return JSON.parse((await rawPost(endpoint(), JSON.stringify(operation), headers)).text);
    },
  ],
  [
    'GET',
    async ({ query, variables }, token) => {
      const parameters = new URLSearchParams({ query, variables: JSON.stringify(variables ?? {}) });
      const headers = bearer(token);
      return JSON.parse((await rawRequest(`${endpoint()}?${parameters}`, { headers })).text);
    },
  ],
  [
    'an event stream',
    (operation, token) => {
      const client = createSseClient({ url: endpoint(), headers: bearer(token), retryAttempts: 0 });
      return lastOf((sink) => client.subscribe(operation, sink));
    },
  ],
  [
    'a WebSocket',
    async (operation, token) => {
      const client = createClient({
        url: app.webSocketUrl,
        webSocketImpl: WebSocket,
        connectionParams: bearer(token),
        retryAttempts: 0,
      });
      try {
        return await lastOf((sink) => client.subscribe(operation, sink));
      } finally {
        await client.dispose();
      }
    },
  ],
];

function endpoint(): string {
  return `${app.url}/graphql`;
}

interface Sink {
  next(result: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

function lastOf(subscribe: (sink: Sink) => void): Promise<Result> {
  return new Promise((resolve, reject) => {
    let last: Result = {};
    subscribe({
      next: (result) => {
        last = result as Result;
      },
      // A refused operation has no result, but a list of errors.
      error: (error) =>
        Array.isArray(error)
          ? resolve({ errors: error as Result['errors'] & object })
          : reject(error),
      complete: () => resolve(last),
    });
  });
}

describe.each(TRANSPORTS)('%s', (_name, ask) => {
  const demo = () => app.sandbox.token({ email: 'demo@example.com' });
  const codes = ({ errors = [] }: Result) => errors.map(({ extensions }) => extensions.code);

  test('answers', async () => {
    const operation = {
      query: 'query ($id: ID!) { customerId instrument(id: $id) { name } }',
      variables: { id: 'AAPL' },
    };
    const { data, errors } = await ask(operation, demo());
    expect(errors).toBeUndefined();
    expect(data).toEqual({ customerId: 'cus_700001', instrument: { name: 'Apple Inc.' } });
  });

  test('refuses requests without a token, or with a forged one', async () => {
    await ask({ query: '{ catalog { group } }' }, demo());
    const query =
      '{ session { login } positions { id } catalog { group } instrument(id: "AAPL") { id } }';
    for (const token of [null, unsignedToken({ login: 700001, group: 'standard-usd' })]) {
      const result = await ask({ query }, token);
      expect(result.data).toEqual({
        session: null,
        positions: null,
        catalog: null,
        instrument: null,
      });
      expect(new Set(codes(result))).toEqual(new Set(['UNAUTHENTICATED']));
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
    const result = await ask(operation, demo());
    expect(result.data ?? null).toBeNull();
    expect(new Set(codes(result))).toEqual(new Set([code]));
    expect(app.sandbox.calls()).toBe(0);
  });

  test('answers the fields that succeed beside the same error of one that fails', async () => {
    app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 403, times: 1 });
    const { data, errors } = await ask({ query: '{ customerId session { login } }' }, demo());
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
