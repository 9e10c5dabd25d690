import { getIntrospectionQuery } from 'graphql';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sharedApp } from '../../support/shared-app.ts';
import { type Asked, codesOf, TRANSPORTS } from './every-transport.ts';

const app = sharedApp();
let token: string;

beforeAll(() => {
  token = app.sandbox.token({ email: 'demo@example.com' });
});
beforeEach(() => app.sandbox.clearCalls());

const repeat = (times: number, make: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => make(at)).join(' ');

const nested = (levels: number) =>
  `${'positions { instrument { '.repeat(levels)}id${' } }'.repeat(levels)}`;

/** Each fragment spreads the next one twice: expanded, the last occurs 2^20 times. */
const fanOut = (type: string, leaf: string) =>
  repeat(
    21,
    (at) => `fragment F${at} on ${type} { ${at < 20 ? `...F${at + 1} ...F${at + 1}` : leaf} }`,
  );

const deepJson = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

const LOGIN = (password: string) =>
  `login(input: { email: "a@b.c", password: "${password}" }) { __typename }`;

test.each<[string, string, Asked]>([
  [
    'thirty-one aliases',
    'MAX_ALIASES',
    { query: `{ ${repeat(31, (at) => `a${at}: __typename`)} }` },
  ],
  [
    'twenty-one directives',
    'MAX_DIRECTIVES',
    { query: `{ __typename ${repeat(21, () => '@include(if: true)')} }` },
  ],
  ['four thousand and one tokens', 'MAX_TOKENS', { query: `{ ${'a '.repeat(3_999)} }` }],
  ['sixteen levels', 'MAX_DEPTH', { query: `{ ${nested(8)} }` }],
  [
    'a page that is full of lists',
    'MAX_COST',
    {
      query:
        'query ($n: Int) { instruments(first: $n) { nodes { positions { id symbol profit instrument { positions { id } } } } } }',
      variables: { n: 500 },
    },
  ],
  [
    'a million fragments of introspection',
    'selections',
    { query: `{ __schema { types { ...F0 } } } ${fanOut('__Type', 'name')}` },
  ],
  [
    'fifty-one operations',
    'operations',
    { query: repeat(51, (at) => `query Q${at} { __typename }`), operationName: 'Q7' },
  ],
  [
    'two logins',
    'login fields',
    { query: `mutation { a: ${LOGIN('x')} ...F } fragment F on Mutation { ${LOGIN('y')} }` },
  ],
  [
    'variables of a thousand levels',
    'depth of variables',
    {
      query: 'query ($id: ID!) { instrument(id: $id) { id } }',
      variables: { id: JSON.parse(deepJson(1_000)) },
    },
  ],
])('%s is refused by the limit of %s', async (_what, limit, asked) => {
  const named = { limit, value: expect.any(Number), maximum: expect.any(Number) };
  for (const [transport, ask] of TRANSPORTS) {
    const answer = await ask(app, asked, token);
    expect(answer.errors, transport).toContainEqual({
      message: expect.any(String),
      extensions: { code: 'QUERY_TOO_COMPLEX', retryable: false, ...named },
    });
    for (const { extensions } of answer.errors ?? []) {
      expect(extensions.value).toBeGreaterThan(Number(extensions.maximum));
    }
    expect(answer.data).toBeUndefined();
  }
  expect(app.sandbox.calls()).toBe(0);
});

describe.each(TRANSPORTS)('by %s', (_transport, ask) => {
  test('introspection in a circle is refused', async () => {
    const query = `{ __schema { types { ${'fields { type { '.repeat(6)}name${' } }'.repeat(6)} } } }`;
    expect(codesOf(await ask(app, { query }, token))).toContain('GRAPHQL_VALIDATION_FAILED');
  });

  test('what costs just as much as is allowed is answered', async () => {
    const query = `{ instruments(first: 500) { nodes { ${'id '.repeat(40)} positions { id } } } }`;
    const answer = await ask(app, { query }, token);
    expect(answer.errors).toBeUndefined();
    expect(answer.extensions?.cost).toBe(1 + 1 + 500 * (1 + 1 + 50));
    expect(answer.extensions?.fields).toBeGreaterThan(500);
  });

  test('the introspection of tools is answered', async () => {
    const query = getIntrospectionQuery({ specifiedByUrl: true, inputValueDeprecation: true });
    // With its line breaks it would be too long for a URL.
    const answer = await ask(app, { query: query.replace(/\s+/g, ' ') });
    expect(answer.errors).toBeUndefined();
    expect(answer.data.__schema.types.length).toBeGreaterThan(20);
  });
});

test('variables of more than ten thousand keys are refused, wherever the keys stand', async () => {
  // They are measured before the document says which of them it declares.
  const query = '{ __typename }';
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]));
  for (const [transport, ask] of TRANSPORTS) {
    // A URL has no room for them.
    if (transport === 'GET') continue;
    const variables = { a: [keys(5_000), { in: keys(4_998) }], b: 1 };
    const { errors } = await ask(app, { query, variables }, token);
    const limit = { limit: 'keys of variables', value: 10_001, maximum: 10_000 };
    expect(errors, transport).toMatchObject([{ extensions: limit }]);
    const most = { a: keys(9_998), b: Array.from({ length: 20_000 }, () => 1) };
    const { data } = await ask(app, { query, variables: most }, token);
    expect(data, transport).toEqual({ __typename: 'Query' });
  }
  expect(app.sandbox.calls()).toBe(0);
});
