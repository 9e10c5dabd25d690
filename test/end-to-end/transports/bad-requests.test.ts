import { brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { readMetrics } from '../../support/leaks.ts';
import { type RawAnswer, rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
const endpoint = () => `${app.url}/graphql`;
// A bad request must not affect the next one.
afterEach(async () => {
  const { data } = await app.query('{ __typename }');
  expect(data).toEqual({ __typename: 'Query' });
});

const PLAIN = 'application/json';
const GRAPHQL = 'application/graphql-response+json';
const bodyOf = (parameters: object) => JSON.stringify(parameters);

/** The codes of an answer's errors. The answer must have no data. */
function codesOf({ text }: RawAnswer): string[] {
  const { errors, ...rest } = JSON.parse(text);
  expect(rest).not.toHaveProperty('data');
  return errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
}

test.each<[string, string]>([
  ['empty', ''],
  ['cut off', '{"query":'],
  ['null', 'null'],
  ['a text', '"{ __typename }"'],
  ['a list that is cut off', '[{"query":'],
  ['without a query', '{}'],
  ['with a null query', bodyOf({ query: null })],
  ['with a number for a query', bodyOf({ query: 1 })],
  ['with a blank query', bodyOf({ query: ' \n' })],
  ['with a list of variables', bodyOf({ query: '{ __typename }', variables: [1] })],
  ['with a number for a name', bodyOf({ query: '{ __typename }', operationName: 1 })],
  ['with a text for extensions', bodyOf({ query: '{ __typename }', extensions: 'x' })],
])('a body that is not a GraphQL request gets 400 in any media type: %s', async (_what, body) => {
  for (const accept of [PLAIN, GRAPHQL, 'application/json;q=0.9']) {
    const answer = await rawPost(endpoint(), body, { accept });
    expect(answer.status).toBe(400);
    expect(answer.headers['content-type']).toContain(accept === GRAPHQL ? GRAPHQL : PLAIN);
    expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  }
});

test('a batch gets a single error, and is counted as one error', async () => {
  const batch = JSON.stringify(Array(2).fill({ query: '{ __typename }' }));
  for (const [accept, body] of [
    [PLAIN, ` ${batch}`],
    [GRAPHQL, '[]'],
    ['text/event-stream', batch],
  ] as const) {
    const answer = await rawPost(endpoint(), body, { accept });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('"code":"BATCHING_NOT_SUPPORTED"');
  }
  expect(await readMetrics(app.adminUrl)).toContain(
    'errors_total{code="BATCHING_NOT_SUPPORTED",operation="none"} 3\n',
  );
});

const withId = 'query ($id: ID!) { instrument(id: $id) { id } }';
const ambiguous = { query: 'query A { __typename } query B { __typename }' };
const unknownName = { query: 'query A { __typename }', operationName: 'C' };
test.each<[string, object, string]>([
  ['a syntax error', { query: '{' }, 'GRAPHQL_PARSE_FAILED'],
  ['a NUL character', { query: '{ __typename\0 }' }, 'GRAPHQL_PARSE_FAILED'],
  ['no operation', { query: 'fragment F on Query { __typename }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['an unknown field', { query: '{ nope }' }, 'GRAPHQL_VALIDATION_FAILED'],
  ['two operations without a name', ambiguous, 'GRAPHQL_VALIDATION_FAILED'],
  ['an unknown operation name', unknownName, 'GRAPHQL_VALIDATION_FAILED'],
  ['a missing variable', { query: withId }, 'BAD_USER_INPUT'],
  ['a variable of another type', { query: withId, variables: { id: {} } }, 'BAD_USER_INPUT'],
  ['a null variable', { query: withId, variables: { id: null } }, 'BAD_USER_INPUT'],
  ['too long a document', { query: `{ ${'__typename '.repeat(5_000)} }` }, 'QUERY_TOO_COMPLEX'],
])('a request with %s gets 400, but 200 in plain JSON', async (_what, parameters, code) => {
  const modern = await rawPost(endpoint(), bodyOf(parameters), { accept: GRAPHQL });
  expect(modern.status).toBe(400);
  expect(codesOf(modern)).toEqual([code]);
  const plain = await rawPost(endpoint(), bodyOf(parameters), { accept: PLAIN });
  expect(plain.status).toBe(200);
  expect(JSON.parse(plain.text)).toEqual(JSON.parse(modern.text));
});

test('a null for a variable with a default is BAD_USER_INPUT', async () => {
  const { status, data, errors } = await app.query(
    'query ($id: ID = "AAPL") { instrument(id: $id) { id } customerId }',
    { token: app.sandbox.token({ email: 'demo@example.com' }), variables: { id: null } },
  );
  expect(status).toBe(200);
  expect(data).toMatchObject({ instrument: null, customerId: expect.any(String) });
  expect(errors).toMatchObject([
    { path: ['instrument'], extensions: { code: 'BAD_USER_INPUT', retryable: false } },
  ]);
});

const body = bodyOf({ query: '{ __typename }' });

// Forms and plain texts are refused, because a page of another origin can send them without a preflight.
test.each([
  [400, { 'content-type': PLAIN }, 'this is not JSON'],
  [415, { 'content-encoding': 'gzip', 'content-type': PLAIN }, gzipSync(body)],
  [415, { 'content-type': 'text/plain' }, body],
  [415, { 'content-type': 'application/x-www-form-urlencoded' }, 'query={__typename}'],
  [415, {}, body],
])('a body is refused if it is not uncompressed JSON: %i, %j', async (status, headers, sent) => {
  const answer = await rawRequest(endpoint(), { method: 'POST', headers, body: sent });
  expect(answer.status).toBe(status);
  expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
});

describe('a GET', () => {
  const get = (parameters: Record<string, string>, headers = {}) =>
    rawRequest(`${endpoint()}?${new URLSearchParams(parameters)}`, { headers });

  test('of a mutation gets 405, and nothing is executed', async () => {
    app.sandbox.clearCalls();
    for (const accept of [PLAIN, GRAPHQL, 'text/event-stream']) {
      const document = 'mutation { registerDevice(input: { deviceId: "d" }) { __typename } }';
      const answer = await get({ query: document }, { accept });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toBe('POST');
    }
    expect(app.sandbox.calls()).toBe(0);
  });

  test.each([
    ['no query', {}],
    ['variables that are not JSON', { query: '{ __typename }', variables: '{' }],
    ['variables that are a list', { query: '{ __typename }', variables: '[1]' }],
    ['extensions that are not JSON', { query: '{ __typename }', extensions: 'x' }],
  ])('with %s gets 400', async (_what, parameters) => {
    const answer = await get(parameters);
    expect(answer.status).toBe(400);
    expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  });

  test('of another path gets 404', async () => {
    for (const path of ['//graphql', '/Graphql', '/nope', '/sandbox', '/graphiql/x']) {
      expect((await rawRequest(`${app.url}${path}`)).status, path).toBe(404);
    }
  });
});

test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE'])(
  '%s gets 405 with the allowed methods',
  async (method) => {
    const answer = await rawRequest(`${endpoint()}?query={__typename}`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, POST');
    if (method !== 'HEAD') expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  },
);

test('of the SDL every method but GET and HEAD gets 405', async () => {
  const send = (method: string) => rawRequest(`${app.url}/schema.graphql`, { method });
  for (const method of ['PUT', 'POST']) {
    const { status, headers } = await send(method);
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  }
  for (const method of ['GET', 'HEAD']) expect((await send(method)).status).toBe(200);
});

test.each(['', 'a b', '[', 'facade:99999', 'user:password@facade'])(
  'the invalid host "%s" makes no difference to good and bad requests',
  async (host) => {
    const { status } = await rawPost(endpoint(), '{', { host });
    expect(status).toBe(400);
    const { text } = await rawPost(endpoint(), bodyOf({ query: '{ __typename }' }), { host });
    expect(JSON.parse(text)).toMatchObject({ data: { __typename: 'Query' } });
    expect(app.logged.filter((line) => line.includes('a fault of'))).toEqual([]);
  },
);

function unpack(bytes: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'br') return brotliDecompressSync(bytes);
  return encoding === 'gzip' ? gunzipSync(bytes) : bytes;
}

const SMALL = JSON.stringify({ query: '{ __typename }' });
const LARGE = JSON.stringify({ query: '{ __schema { types { name description } } }' });

test('every answer forbids storing it, and its Vary header names the token, media type, encoding and origin', async () => {
  for (const answer of [
    await rawPost(endpoint(), SMALL),
    await rawPost(endpoint(), '{'),
    await rawRequest(`${endpoint()}?query={__typename}`),
    await rawRequest(`${endpoint()}?query={session{login}}`),
    await rawRequest(`${app.url}/health/ready`),
  ]) {
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers.vary).toBe('Authorization, Accept, Accept-Encoding, Origin');
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  }
});

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0', 'gzip'],
  ['deflate', undefined],
  ['identity', undefined],
  ['gzip;q=0', undefined],
  ['', undefined],
])(
  'a client that accepts %j gets long answers in the encoding %s, and short ones uncompressed',
  async (accepted, encoding) => {
    const answer = await rawPost(endpoint(), LARGE, { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
    const unpacked = unpack(answer.bytes, encoding);
    expect(JSON.parse(String(unpacked)).data.__schema.types.length).toBeGreaterThan(20);
    if (encoding) expect(answer.bytes.length).toBeLessThan(unpacked.length / 2);
    const short = await rawPost(endpoint(), SMALL, { 'accept-encoding': accepted });
    expect(short.headers).not.toHaveProperty('content-encoding');
  },
);
