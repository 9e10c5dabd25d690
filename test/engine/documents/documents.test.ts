import {
  buildSchema,
  GraphQLDeferDirective,
  GraphQLInt,
  GraphQLObjectType,
  GraphQLSchema,
  parse,
  print,
  specifiedDirectives,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { limitErrors } from '../../../src/engine/documents/document-limits.ts';
import {
  type DocumentOptions,
  Documents,
  type PreparedDocument,
} from '../../../src/engine/documents/documents.ts';
import { Selections } from '../../../src/engine/documents/selections.ts';
import { argsOf, meterFor } from './compiler/both-executors.ts';

const schema = buildSchema(`
  scalar JSON
  enum Side { BUY SELL }
  input Login { email: String!, password: String!, pin: Int, side: Side }
  type Node { id: ID, node: Node, nodes: [Node] }
  type Query { node(at: JSON): Node, nodes(first: Int): [Node] }
  type Mutation { login(input: Login!): Node, write: Node }
`);

// The service's own schema marks its login field in this way.
Object.assign(schema.getMutationType()?.getFields().login ?? {}, {
  extensions: { mostSelected: 1 },
});

// Only fields with resolvers are compiled.
Object.assign(schema.getQueryType()?.getFields().node ?? {}, { resolve: () => ({}) });

const LIMITS = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };

const repeat = (times: number, make: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => make(at)).join(' ');

function documents(options: Partial<DocumentOptions['limits']> = {}, of = schema) {
  return new Documents({
    schema: of,
    limits: { ...LIMITS, ...options },
    introspection: true,
  });
}

function errorsOf(text: string, from: Documents = documents()) {
  const result = from.prepare(text);
  return result.kind === 'invalid' ? result.errors : [];
}

function tooComplex(text: string, limits?: Partial<DocumentOptions['limits']>) {
  return errorsOf(text, documents(limits)).map(({ extensions }) => extensions);
}

const deep = (levels: number, field = 'node') =>
  `{ ${`${field} { `.repeat(levels - 1)} id ${'} '.repeat(levels - 1)} }`;

describe('the limit', () => {
  const SETTINGS = {
    MAX_TOKENS: 'maxTokens',
    MAX_DEPTH: 'maxDepth',
    MAX_ALIASES: 'maxAliases',
    MAX_DIRECTIVES: 'maxDirectives',
  } as const;
  // Two uses of a fragment. Each case adds the fields of the fragment.
  const twoUses = '{ node { ...A node { ...A } } } fragment A on Node';
  const conditions =
    '{ node @include(if: true) { ...A @skip(if: true) ... @include(if: true) { id } } }';

  test.each([
    ['MAX_TOKENS', 6, 'tokens', '{ node { id } }'],
    ['MAX_TOKENS', 11, 'line ends as well', `#\r\n{ node { id } }${'\n'.repeat(9)}`],
    ['MAX_DEPTH', 16, 'levels of fields', deep(16)],
    ['MAX_DEPTH', 4, 'levels within fragments', `${twoUses} { ... on Node { node { id } } }`],
    ['MAX_ALIASES', 4, 'aliases for each use of a fragment', `${twoUses} { a: id b: id }`],
    [
      'MAX_DIRECTIVES',
      4,
      'directives of fields and fragments',
      `${conditions} fragment A on Node { id @skip(if: true) }`,
    ],
  ] as const)('%s of %i counts %s', (limit, value, _what, text) => {
    const name = SETTINGS[limit];
    expect(errorsOf(text, documents({ [name]: value }))).toEqual([]);
    expect(tooComplex(text, { [name]: value - 1 })).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit, value, maximum: value - 1 },
    ]);
  });

  test('of variables applies to each operation, whether it is executed or not', () => {
    const definitions = (count: number) => repeat(count, (at) => `$v${at}: Int = 1`);
    const uses = repeat(100, (at) => `$v${at}`);
    const text = (count: number) => `query A(${definitions(count)}) { node(at: [${uses}]) { id } }
      query B(${definitions(100)}) { node(at: [${uses}]) { id } }`;
    expect(errorsOf(text(100))).toEqual([]);
    expect(tooComplex(text(101))).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'variables', value: 101, maximum: 100 },
    ]);
  });

  test('of nesting applies before the stack overflows, for every kind of bracket', () => {
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
});

test('a mutation has at most five fields and one login, including fields in fragments', () => {
  const login = 'login(input: { email: "a", password: "b" }) { id }';
  expect(tooComplex(`mutation { a: ${login} ...F } fragment F on Mutation { ${login} }`)).toEqual([
    { code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'login fields', value: 2, maximum: 1 },
  ]);
  const writes = (count: number) => `mutation { ${repeat(count, (at) => `w${at}: write { id }`)} }`;
  expect(tooComplex(writes(6))).toMatchObject([{ limit: 'mutation fields' }]);
  expect(errorsOf(writes(5))).toEqual([]);
});

describe('an error message', () => {
  const secrets = ['hunter2canary', '8675', '49.151', 'x9z', 'zq7wk'];
  const inputs = [
    'email: hunter2canary, password: "b"',
    'email: "a", password: hunter2canary',
    'email: "a", password: x9z',
    'email: "a", password: zq7wk',
    'email: "a", password: 8675',
    'email: "a", password: 49.151',
    'email: "a", password: "b", pin: "hunter2canary"',
    'email: "a", password: ["hunter2canary"]',
    'email: "a", password: { is: "hunter2canary" }',
    'email: "a", password: """\n  hunter2canary\n  hunter2canary\n"""  , nope: 1',
    'email: "a", nope: "hunter2canary"',
    'email: "a", password: "b", side: hunter2canary',
    // In these inputs a quotation mark is missing, or there is one too many.
    'email: "a", password: "b"hunter2canary"',
    'email: "a", password: "b" hunter2canary }',
    'email: "a", password: "hunter2canary',
    'email: "a", password: hunter2canary"',
    'email: "a", password "hunter2canary"',
    'email: "a", password: 8675hunter2canary',
    'email: "a", password 8675',
    'email: "a", password """hunter2canary"""',
  ];

  test.each(inputs)('about an invalid document never contains its values: %s', (input) => {
    const errors = errorsOf(`mutation { login(input: { ${input} }) { id } }`);
    expect(errors.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(JSON.stringify(errors)).not.toContain(secret);
  });

  test('has a location, and there are at most ten', () => {
    expect(errorsOf('{\n  nope\n}')[0]?.locations).toEqual([{ line: 2, column: 3 }]);
    expect(errorsOf(`{ ${'nope '.repeat(100)} }`)).toHaveLength(10);
  });

  test('about a cycle of fragments is short, even with a long name', () => {
    const name = 'x'.repeat(100_000);
    const errors = errorsOf(`{ ...${name} } fragment ${name} on Query { ...${name} }`);
    expect(errors.length).toBeGreaterThan(0);
    expect(JSON.stringify(errors).length).toBeLessThan(2_000);
  });
});

describe('a document of fifty operations', () => {
  const fifty = (make: (at: number) => string) =>
    Array.from({ length: 50 }, (_, at) => make(at)).join('\n');

  function small(text: string, from?: Documents) {
    const errors = errorsOf(text, from);
    expect(JSON.stringify({ errors }).length).toBeLessThan(4_000);
    return errors;
  }

  test.each([
    ['a field', (at: number) => `query Q${at} { nope }`, /"nope"/],
    ['an argument', (at: number) => `query Q${at} { nodes(last: 1) { id } }`, /"last"/],
    ['a repeated name', () => 'query Q { node { id } }', /"Q"/],
    ['no name', () => '{ node { id } }', /anonymous/],
    ['a variable', (at: number) => `query Q${at} { nodes(first: $n) { id } }`, /"\$n"/],
  ])('gets errors with locations for its first mistakes: %s', (_what, make, message) => {
    const errors = small(fifty(make));
    expect(errors).toHaveLength(10);
    for (const error of errors) {
      expect(error.message).toMatch(message);
      expect(error.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(error.locations?.length).toBeGreaterThan(0);
    }
  });

  test('gets one error per limit, at the first operation that exceeds it', () => {
    const levels = (at: number) => (at < 30 ? 15 : at);
    const limits = { maxTokens: 10_000, maxDepth: 29 };
    const errors = small(
      fifty((at) => `query Q${at} ${deep(levels(at))}`),
      documents(limits),
    );
    expect(errors).toMatchObject([
      { extensions: { limit: 'MAX_DEPTH', value: 30 }, locations: [{ line: 31, column: 1 }] },
    ]);
    const both = fifty((at) => `query ${at < 3 ? '@a'.repeat(21) : ''} ${deep(16)}`);
    expect(
      small(both, documents({ maxTokens: 10_000 })).map(({ extensions }) => extensions.limit),
    ).toEqual(['MAX_DEPTH', 'MAX_DIRECTIVES']);
    const write = `mutation { ${repeat(6, (at) => `w${at}: write { id }`)} }`;
    expect(small(fifty(() => write))).toMatchObject([
      { extensions: { limit: 'mutation fields', value: 6 }, locations: [{ line: 1, column: 1 }] },
    ]);
  });
});

test('a document that is too costly to validate is refused', () => {
  // Validation compares each pair of fields argument by argument.
  const args = repeat(120, (at) => `a${at}: 1`);
  const text = `{ ${`node(${args}) { id } `.repeat(99)} }`;
  const errors = errorsOf(text, documents({ maxTokens: 100_000 }));
  expect(errors.map(({ message }) => message)).toEqual(['Validation aborted.']);
});

test.each([
  ['{ node { x } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['query ($x: Int) { node { id } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['mutation A { login(input: 1e400) { id } write { id } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['{ node(at: 1e400) { id } }', 'BAD_USER_INPUT'],
  [deep(16), 'QUERY_TOO_COMPLEX'],
  ['{ node { id } ] }', 'GRAPHQL_PARSE_FAILED'],
])('a refused document leaves only its errors in memory: %s', (text, code) => {
  const errors = errorsOf(text);
  expect(errors.map(({ extensions }) => extensions.code)).toContain(code);
  for (const { nodes, stack } of errors) {
    expect(nodes).toBeUndefined();
    expect(stack).not.toMatch(/\n {4}at /);
  }
});

test('a document counts with the size of its tree, and a refused one with the size of its text', () => {
  const weightOf = (text: string) => {
    const prepared = documents();
    prepared.prepare(text);
    return prepared.byteSize;
  };
  const fields = 'id '.repeat(100);
  const small = weightOf('{ node { id } }');
  expect(weightOf(`{ node { ${fields} } }`)).toBeGreaterThan(4 * small);
  // The schema has no field `none`, so this document is refused.
  expect(weightOf(`{ none { ${fields} } }`)).toBeLessThan(2 * small);
});

test('a document counts with its compiled code as well', async () => {
  const from = documents();
  const text = '{ node { id } }';
  const { document, operations } = from.prepare(text) as PreparedDocument;
  const before = from.byteSize;
  const executor = operations.get(null)?.executor;
  executor?.compile();
  await executor?.execute(argsOf(schema, print(document)), meterFor());
  expect(from.byteSize).toBe(before + (executor?.compiledFields ?? 0) * 1_024);
  expect(executor?.compiledFields).toBe(2);
});

/** The errors of a document by its limits alone: its fields need not exist. */
function refusals(text: string) {
  const document = parse(text);
  return limitErrors(document, LIMITS, new Selections(schema, document)).map(
    ({ message, extensions }) => [extensions.limit ?? message, extensions.value],
  );
}

test('a chain of twenty fragments that double at each link is refused before it is expanded', () => {
  const links = repeat(
    21,
    (at) => `fragment F${at} on Node { ${at < 20 ? `...F${at + 1} ...F${at + 1}` : 'a: id'} }`,
  );
  const refused = new Map(refusals(`{ node { ...F0 } } ${links}`) as [string, number][]);
  expect(refused.get('selections')).toBe(10_001);
});

test.each([
  ['one fragment', '{ ...A } fragment A on Query { ...A }'],
  [
    'two fragments',
    '{ ...A } fragment A on Query { node { ...B } } fragment B on Node { node { ...B } }',
  ],
  ['unused fragments', '{ node { id } } fragment A on Query { ...B } fragment B on Query { ...A }'],
])('a cycle of fragments is refused: %s', (_name, text) => {
  const cycle = { message: expect.stringMatching(/^Cannot spread fragment "\w" within itself/) };
  expect(errorsOf(text)).toContainEqual(expect.objectContaining(cycle));
});

test('a cycle of two hundred fragments is refused before it is expanded', () => {
  const fragments = repeat(
    200,
    (at) => `fragment F${at} on Query { ...F${(at + 1) % 200} ...F${(at + 7) % 200} }`,
  );
  expect(refusals(`{ ...F0 } ${fragments}`)).toContainEqual(['selections', 10_001]);
});

test('a document has at most ten thousand selections', () => {
  const fields = (count: number) => `{ ${repeat(count, (at) => `f${at}`)} }`;
  expect(refusals(fields(10_000))).toEqual([]);
  expect(refusals(fields(10_001))).toEqual([['selections', 10_001]]);
});

test('the pairs of fields with the same place in the answer are counted, also in fragments', () => {
  // The limit is 10,000 pairs: 141 fields form 9,870, and 142 form 10,011.
  const times = 142;
  const pairs = (times * (times - 1)) / 2;
  expect(refusals(`{ ${repeat(times - 1, () => 'id')} }`)).toEqual([]);
  expect(refusals(`{ ${repeat(times, () => 'id')} }`)).toEqual([['repeated fields', pairs]]);
  // The `node` fields form pairs, and so do the `id` fields in them.
  expect(refusals(`{ ${repeat(times, () => 'node { id }')} }`)).toEqual([
    ['repeated fields', pairs * 2],
  ]);
  expect(refusals(`{ ${repeat(times, () => '... { id }')} }`)).toEqual([
    ['repeated fields', pairs],
  ]);
  const inFragments = `{ ${repeat(times, (at) => `...F${at}`)} } ${repeat(times, (at) => `fragment F${at} on Query { id }`)}`;
  expect(refusals(inFragments)).toEqual([['repeated fields', pairs * 2]]);
  const unused = `{ id } fragment F on Query { ${repeat(times, () => 'id')} }`;
  expect(refusals(unused)).toEqual([['repeated fields', pairs]]);
});

describe('`@defer`', () => {
  const deferring = new GraphQLSchema({
    ...schema.toConfig(),
    subscription: new GraphQLObjectType({
      name: 'Subscription',
      fields: { n: { type: GraphQLInt } },
    }),
    directives: [...specifiedDirectives, GraphQLDeferDirective],
  });
  const prepared = (text: string) => {
    const result = documents({}, deferring).prepare(text);
    if (result.kind === 'invalid') throw new AggregateError(result.errors);
    expect(print(result.document)).not.toMatch(/defer/);
    return result;
  };

  test.each(['', ' ', ',', ' # a comment\n', '\ufeff'])('is found after `@` and %j', (between) => {
    const text = `{ node { id ... @${between}defer { nodes { id } } } }`;
    expect(prepared(text).deferring).not.toBeNull();
    expect(prepared('{ node { id } }').deferring).toBeNull();
    // A mutation with `@defer` is valid too, although only queries are answered in parts.
    expect(prepared('mutation { write { id ... @defer { node { id } } } }').operations.size).toBe(
      1,
    );
  });
});
