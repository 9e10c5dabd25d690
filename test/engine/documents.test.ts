import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { type DocumentOptions, Documents } from '../../src/engine/documents/documents.ts';

const schema = buildSchema(`
  scalar JSON
  enum Side { BUY SELL }
  input Login { email: String!, password: String!, pin: Int, side: Side }
  type Node { id: ID, node: Node, nodes: [Node] }
  type Query { node(at: JSON): Node, nodes(first: Int): [Node] }
  type Mutation { login(input: Login!): Node, write: Node }
`);

function documents(options: Partial<DocumentOptions['limits']> = {}, more = {}) {
  const limits = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20, ...options };
  return new Documents({ schema, limits, introspection: true, suggestions: true, ...more });
}

function errorsOf(text: string, from: Documents = documents()) {
  const result = from.prepare(text);
  return 'errors' in result ? result.errors : [];
}

function tooComplex(text: string, limits?: Partial<DocumentOptions['limits']>) {
  return errorsOf(text, documents(limits)).map(({ extensions }) => extensions);
}

const deep = (levels: number, field = 'node') =>
  `{ ${`${field} { `.repeat(levels - 1)} id ${'} '.repeat(levels - 1)} }`;

describe('a document', () => {
  test('is prepared once, whoever sends it', () => {
    const known = documents();
    const text = '{ node { id } }';
    expect(known.prepare(text)).toBe(known.prepare(text));
  });

  test('that is wrong is checked once as well', () => {
    const known = documents();
    expect(known.prepare('{ nope }')).toBe(known.prepare('{ nope }'));
  });

  test('has its fragments in memory once, however many operations it has', () => {
    const result = documents().prepare(
      'query A { ...f } query B($first: Int) { nodes(first: $first) { id } ...f } fragment f on Query { node { id } }',
    );
    if ('errors' in result) throw result.errors[0];
    const run = { context: null, values: { sources: {}, coerced: {} }, variables: {} };
    const [a, b] = [...result.operations.values()].map(({ args }) => args.of(run));
    expect(Object.keys(a?.fragments ?? {})).toEqual(['f']);
    expect(b?.fragments).toBe(a?.fragments);
    expect(b?.fragmentDefinitions).toBe(a?.fragmentDefinitions);
    expect([a, b].map((args) => args?.operation.name?.value)).toEqual(['A', 'B']);
  });

  test('that nobody asks for any more makes room', () => {
    const known = documents({}, { maxBytes: 50_000 });
    const first = known.prepare('{ node { id } }');
    for (let i = 0; i < 20; i += 1) known.prepare(`{ n${i}: node { id } }`);
    expect(known.prepare('{ node { id } }')).not.toBe(first);
  });
});

describe('the limit', () => {
  test('of tokens stops the parser', () => {
    expect(tooComplex('{ node { id } }', { maxTokens: 5 })).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'MAX_TOKENS', value: 6, maximum: 5 },
    ]);
    expect(errorsOf('{ node { id } }', documents({ maxTokens: 6 }))).toEqual([]);
  });

  test('of depth counts fields, through fragments', () => {
    expect(errorsOf(deep(15))).toEqual([]);
    expect(tooComplex(deep(16))).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'MAX_DEPTH', value: 16, maximum: 15 },
    ]);
    const fragments = `{ node { ...A } } fragment A on Node { node { ...B } }
      fragment B on Node { ... on Node { node { id } } }`;
    expect(tooComplex(fragments, { maxDepth: 3 })).toMatchObject([
      { limit: 'MAX_DEPTH', value: 4 },
    ]);
  });

  test('of aliases counts each time a fragment is used', () => {
    const text = '{ node { ...A node { ...A } } } fragment A on Node { a: id b: id }';
    expect(tooComplex(text, { maxAliases: 3 })).toMatchObject([{ limit: 'MAX_ALIASES', value: 4 }]);
    expect(tooComplex(text, { maxAliases: 4 })).toEqual([]);
  });

  test('of directives counts those of the operation, of fields and of fragments', () => {
    const text = `query ($yes: Boolean!) { node @include(if: $yes) { ...A @skip(if: $yes)
      ... @include(if: $yes) { id } } } fragment A on Node { id @skip(if: $yes) }`;
    expect(tooComplex(text, { maxDirectives: 3 })).toMatchObject([
      { limit: 'MAX_DIRECTIVES', value: 4, maximum: 3 },
    ]);
  });

  test('holds for every operation of a document', () => {
    const text = `query A { node { id } } query B ${deep(16)}`;
    expect(tooComplex(text)).toMatchObject([{ limit: 'MAX_DEPTH' }]);
  });

  test('of nesting comes before the stack ends, whatever the brackets hold', () => {
    const texts = [
      '{a'.repeat(1_900),
      `{ node(at: ${'['.repeat(1_900)}${']'.repeat(1_900)}) { id } }`,
      `{ node(at: ${'{a:'.repeat(900)}1${'}'.repeat(900)}) { id } }`,
    ];
    for (const text of texts) {
      expect(tooComplex(text)).toMatchObject([{ code: 'QUERY_TOO_COMPLEX', limit: 'nesting' }]);
    }
    expect(errorsOf(`{ node(at: ${'['.repeat(490)}${']'.repeat(490)}) { id } }`)).toEqual([]);
    expect(errorsOf(deep(490), documents({ maxDepth: 500 }))).toEqual([]);
  });

  test('looks at no brackets inside texts and comments', () => {
    expect(errorsOf(`{ node(at: "${'{'.repeat(600)}") { id } } # ${'{'.repeat(600)}`)).toEqual([]);
  });
});

test('fragments that double at each link are counted, not walked', () => {
  const links = Array.from(
    { length: 100 },
    (_, i) => `fragment F${i} on Node { a: node { ...F${i + 1} } b: node { ...F${i + 1} } }`,
  );
  const text = `{ node { ...F0 } } ${links.join(' ')} fragment F100 on Node { id }`;
  const startedAtMs = performance.now();
  expect(tooComplex(text).map(({ limit }) => limit)).toContain('MAX_ALIASES');
  expect(performance.now() - startedAtMs).toBeLessThan(1_000);
});

test('fragments in a circle are refused by validation', () => {
  const text = '{ node { ...A } } fragment A on Node { node { ...B } } fragment B on Node { ...A }';
  expect(errorsOf(text)[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

describe('a mutation', () => {
  const login = 'login(input: { email: "a", password: "b" }) { id }';

  test('holds five fields and one login at most, also behind fragments', () => {
    expect(tooComplex(`mutation { a: ${login} ...F } fragment F on Mutation { ${login} }`)).toEqual(
      [
        {
          code: 'QUERY_TOO_COMPLEX',
          retryable: false,
          limit: 'login fields',
          value: 2,
          maximum: 1,
        },
      ],
    );
    const six = Array.from({ length: 6 }, (_, i) => `w${i}: write { id }`).join(' ');
    expect(tooComplex(`mutation { ${six} }`)).toMatchObject([{ limit: 'mutation fields' }]);
    const five = Array.from({ length: 5 }, (_, i) => `w${i}: write { id }`).join(' ');
    expect(errorsOf(`mutation { ${five} }`)).toEqual([]);
  });
});

describe('a message', () => {
  const secrets = ['hunter2canary', '8675', '49.151'];
  const inputs = [
    'email: hunter2canary, password: "b"',
    'email: "a", password: hunter2canary',
    'email: "a", password: 8675',
    'email: "a", password: 49.151',
    'email: "a", password: "b", pin: "hunter2canary"',
    'email: "a", password: ["hunter2canary"]',
    'email: "a", password: { is: "hunter2canary" }',
    'email: "a", password: """\n  hunter2canary\n  hunter2canary\n"""  , nope: 1',
    'email: "a", nope: "hunter2canary"',
    'email: "a", password: "b", side: hunter2canary',
    // Quotes that are missing, or one too many.
    'email: "a", password: "b"hunter2canary"',
    'email: "a", password: "b" hunter2canary }',
    'email: "a", password: "hunter2canary',
    'email: "a", password: hunter2canary"',
    'email: "a", password "hunter2canary"',
    'email: "a", password: 8675hunter2canary',
    'email: "a", password 8675',
    'email: "a", password """hunter2canary"""',
  ];

  test.each(inputs)('about a wrong document never holds what stood in it: %s', (input) => {
    const errors = errorsOf(`mutation { login(input: { ${input} }) { id } }`);
    expect(errors.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(JSON.stringify(errors)).not.toContain(secret);
  });

  test('has no suggestions where the schema is not to be shown', () => {
    const [shown] = errorsOf('{ nodez { id } }');
    expect(shown?.message).toContain('Did you mean');
    const [hidden] = errorsOf('{ nodez { id } }', documents({}, { suggestions: false }));
    expect(hidden?.message).toBe('Cannot query field "nodez" on type "Query".');
  });

  test('says where, and there are only so many of them', () => {
    expect(errorsOf('{\n  nope\n}')[0]?.locations).toEqual([{ line: 2, column: 3 }]);
    expect(errorsOf(`{ ${'nope '.repeat(100)} }`).length).toBeLessThanOrEqual(21);
  });
});

test('introspection is answered only where it is allowed', () => {
  expect(errorsOf('{ __schema { queryType { name } } }')).toEqual([]);
  const closed = documents({}, { introspection: false });
  expect(errorsOf('{ __schema { queryType { name } } }', closed)[0]?.extensions.code).toBe(
    'GRAPHQL_VALIDATION_FAILED',
  );
  expect(errorsOf('{ __type(name: "Query") { name } }', closed)).not.toEqual([]);
  expect(errorsOf('{ __typename }', closed)).toEqual([]);
});
