import { gzipSync } from 'node:zlib';
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
const query = (parameters: object) => JSON.stringify(parameters);

function codesOf({ text }: RawAnswer): string[] {
  const { errors, ...rest } = JSON.parse(text);
  expect(rest).not.toHaveProperty('data');
  return errors.map(({ extensions }: { extensions: { code: string } }) => extensions.code);
}

describe('a body that is no request', () => {
  const bodies: readonly (readonly [string, string | Buffer])[] = [
    ['empty', ''],
    ['cut off', '{"query":'],
    ['null', 'null'],
    ['a text', '"{ __typename }"'],
    ['a list that is cut off', '[{"query":'],
    ['without a query', '{}'],
    ['with a null query', query({ query: null })],
    ['with a number for a query', query({ query: 1 })],
    ['with a blank query', query({ query: ' \n' })],
    ['with a list of variables', query({ query: '{ __typename }', variables: [1] })],
    ['with a number for a name', query({ query: '{ __typename }', operationName: 1 })],
    ['with a text for extensions', query({ query: '{ __typename }', extensions: 'x' })],
  ];

  test.each(bodies)('%s is 400 for either media type', async (_what, body) => {
    for (const accept of [PLAIN, GRAPHQL, 'application/json;q=0.9']) {
      const answer = await rawPost(endpoint(), body, { accept });
      expect(answer.status).toBe(400);
      expect(answer.headers['content-type']).toContain(accept === GRAPHQL ? GRAPHQL : PLAIN);
      expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
    }
  });
});

describe('a batch', () => {
  const batchOf = (length: number) =>
    JSON.stringify(Array(length).fill({ query: '{ __typename }' }));

  test('is refused by a list, as batching links read it', async () => {
    const accepts = [PLAIN, GRAPHQL, `${GRAPHQL},${PLAIN};q=0.9`];
    for (const [at, length] of [1, 2, 10].entries()) {
      const accept = accepts[at];
      const answer = await rawPost(endpoint(), ` ${batchOf(length)}`, { accept });
      expect(answer.status).toBe(200);
      const results = JSON.parse(answer.text);
      expect(results).toHaveLength(length);
      for (const result of results) {
        expect(codesOf({ ...answer, text: JSON.stringify(result) })).toEqual([
          'BATCHING_NOT_SUPPORTED',
        ]);
      }
    }
    expect(await readMetrics(app.adminUrl)).toMatch(
      /errors_total\{code="BATCHING_NOT_SUPPORTED",operation="none"\} 3\n/,
    );
  });

  test('is 400 where it is empty, longer than links make it, or for an event stream', async () => {
    const cases = [
      ['[]', PLAIN],
      [batchOf(11), PLAIN],
      [batchOf(2), 'text/event-stream'],
    ] as const;
    for (const [body, accept] of cases) {
      const answer = await rawPost(endpoint(), body, { accept });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain('"code":"BATCHING_NOT_SUPPORTED"');
    }
  });
});

describe('a request whose document or variables are wrong', () => {
  const withId = 'query ($id: ID!) { instrument(id: $id) { id } }';
  const unclear = { query: 'query A { __typename } query B { __typename }' };
  const unnamed = { query: 'query A { __typename }', operationName: 'C' };
  const cases: readonly (readonly [string, object, string])[] = [
    ['a syntax error', { query: '{' }, 'GRAPHQL_PARSE_FAILED'],
    ['a NUL character', { query: '{ __typename\0 }' }, 'GRAPHQL_PARSE_FAILED'],
    ['no operation', { query: 'fragment F on Query { __typename }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown field', { query: '{ nope }' }, 'GRAPHQL_VALIDATION_FAILED'],
    ['two operations without a name', unclear, 'GRAPHQL_VALIDATION_FAILED'],
    ['the name of none', unnamed, 'GRAPHQL_VALIDATION_FAILED'],
    ['a missing variable', { query: withId }, 'BAD_USER_INPUT'],
    ['a variable of another type', { query: withId, variables: { id: {} } }, 'BAD_USER_INPUT'],
    ['a null variable', { query: withId, variables: { id: null } }, 'BAD_USER_INPUT'],
    ['too long a document', { query: `{ ${'__typename '.repeat(5_000)} }` }, 'QUERY_TOO_COMPLEX'],
  ];

  test.each(cases)('with %s is 400, or 200 for plain JSON', async (_what, parameters, code) => {
    const modern = await rawPost(endpoint(), query(parameters), { accept: GRAPHQL });
    expect(modern.status).toBe(400);
    expect(codesOf(modern)).toEqual([code]);
    const plain = await rawPost(endpoint(), query(parameters), { accept: PLAIN });
    expect(plain.status).toBe(200);
    expect(JSON.parse(plain.text)).toEqual(JSON.parse(modern.text));
  });

  test('with variables as deep as a body allows is refused before they are read', async () => {
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    const document = JSON.stringify(withId);
    const answer = await rawPost(endpoint(), `{"query":${document},"variables":{"id":${deep}}}`);
    expect(codesOf(answer)).toEqual(['QUERY_TOO_COMPLEX']);
    const value = 'mutation ($v: JSON) { setValue(input: { key: "k", value: $v }) { __typename } }';
    const body = `{"query":${JSON.stringify(value)},"variables":{"v":${deep}}}`;
    const authorization = `Bearer ${app.sandbox.token({ email: 'demo@example.com' })}`;
    expect(codesOf(await rawPost(endpoint(), body, { authorization }))).toEqual([
      'QUERY_TOO_COMPLEX',
    ]);
  });
});

test('a null in place of a variable with a default is the client’s mistake', async () => {
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

describe('a compressed body', () => {
  test('is decompressed', async () => {
    const body = gzipSync(query({ query: '{ __typename }' }));
    const answer = await rawPost(endpoint(), body, { 'content-encoding': 'gzip' });
    expect(JSON.parse(answer.text)).toMatchObject({ data: { __typename: 'Query' } });
  });

  test.each([
    ['gzip', Buffer.from('this is not packed')],
    ['gzip', gzipSync('{"query":"{ __typename }"}').subarray(0, 30)],
    ['zstd', Buffer.from('{"query":"{ __typename }"}')],
  ])('that cannot be read is 400 (%s)', async (encoding, body) => {
    const answer = await rawPost(endpoint(), body, { 'content-encoding': encoding });
    expect(answer.status).toBe(400);
    expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  });
});

describe('a body of another type', () => {
  const body = query({ query: '{ __typename }' });

  // A page of another origin can send forms and plain texts without a preflight.
  test.each([
    ['text/plain', body],
    ['application/x-www-form-urlencoded', 'query={__typename}'],
    [undefined, body],
  ])('is 415: %s', async (type, text) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await rawRequest(endpoint(), { method: 'POST', headers, body: text });
    expect(answer.status).toBe(415);
    expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  });
});

describe('a GET', () => {
  const get = (parameters: Record<string, string>, headers = {}) =>
    rawRequest(`${endpoint()}?${new URLSearchParams(parameters)}`, { headers });

  test('runs a query with its variables and its name', async () => {
    const answer = await get(
      {
        query: 'query A { __typename } query B($age: Int) { session(maxAge: $age) { login } }',
        operationName: 'B',
        variables: '{"age":5}',
        extensions: '{}',
      },
      { authorization: `Bearer ${app.sandbox.token({ email: 'demo@example.com' })}` },
    );
    expect(JSON.parse(answer.text).data).toEqual({ session: { login: '700001' } });
  });

  test('of a mutation is 405, and nothing is carried out', async () => {
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
    ['variables that are no JSON', { query: '{ __typename }', variables: '{' }],
    ['variables that are a list', { query: '{ __typename }', variables: '[1]' }],
    ['extensions that are no JSON', { query: '{ __typename }', extensions: 'x' }],
  ])('with %s is 400', async (_what, parameters) => {
    const answer = await get(parameters);
    expect(answer.status).toBe(400);
    expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  });

  test('with a broken encoding is answered', async () => {
    const answer = await rawRequest(`${endpoint()}?query=%ZZ`, { headers: { accept: GRAPHQL } });
    expect(answer.status).toBe(400);
  });

  test('of something else is 404', async () => {
    for (const path of ['//graphql', '/Graphql', '/nope', '/sandbox', '/graphiql/x']) {
      expect((await rawRequest(`${app.url}${path}`)).status, path).toBe(404);
    }
  });
});

test.each(['PUT', 'DELETE', 'PATCH', 'HEAD', 'TRACE'])(
  '%s is 405 and says what is allowed',
  async (method) => {
    const answer = await rawRequest(`${endpoint()}?query={__typename}`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, POST');
    if (method !== 'HEAD') expect(codesOf(answer)).toEqual(['GRAPHQL_PARSE_FAILED']);
  },
);

test.each(['', 'a b', '[', 'facade:99999', 'user:password@facade'])(
  'the host "%s" makes no difference, whatever is wrong beside it',
  async (host) => {
    const { status } = await rawPost(endpoint(), '{', { host });
    expect(status).toBe(400);
    const { text } = await rawPost(endpoint(), query({ query: '{ __typename }' }), { host });
    expect(JSON.parse(text)).toMatchObject({ data: { __typename: 'Query' } });
    // Yoga, which says this, is given an address.
    expect((await rawRequest(endpoint(), { method: 'PUT', headers: { host } })).status).toBe(405);
    expect(app.logged.filter((line) => line.includes('a request failed'))).toEqual([]);
  },
);
