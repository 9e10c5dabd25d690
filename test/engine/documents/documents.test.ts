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
import { Selections } from '../../../src/engine/core/selections.ts';
import { limitErrors } from '../../../src/engine/documents/document-limits.ts';
import {
  type DocumentOptions,
  Documents,
  type PreparedDocument,
} from '../../../src/engine/documents/documents.ts';
import { argsOf, meterFor } from './compiler/both-executors.ts';

const schema = buildSchema(`
  scalar JSON
  enum Side { BUY SELL }
  input Login { email: String!, password: String!, pin: Int, side: Side }
  type Node { id: ID, node: Node, nodes: [Node] }
  directive @part(label: String) on INLINE_FRAGMENT
  type Query { node(at: JSON): Node, nodes(first: Int): [Node] }
  type Mutation { login(input: Login!): Node, write: Node }
`);

// As in the service's own schema, an operation may select `login` once.
Object.assign(schema.getMutationType()?.getFields().login ?? {}, {
  extensions: { mostSelected: 1 },
});

// A document is compiled only if its root fields have resolvers, so `node` gets one.
Object.assign(schema.getQueryType()?.getFields().node ?? {}, { resolve: () => ({}) });

const LIMITS = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };

const repeat = (times: number, make: (index: number) => string) =>
  Array.from({ length: times }, (_, index) => make(index)).join(' ');

function documents(options: Partial<DocumentOptions['limits']> = {}, of = schema) {
  return new Documents({ schema: of, limits: { ...LIMITS, ...options }, introspection: true });
}

/** The errors of a document; none if the document is accepted. */
function errorsOf(text: string, from: Documents = documents()) {
  const result = from.prepare(text);
  return result.kind === 'invalid' ? result.errors : [];
}

function extensionsOf(text: string, limits?: Partial<DocumentOptions['limits']>) {
  return errorsOf(text, documents(limits)).map(({ extensions }) => extensions);
}

/** A query whose fields are nested this deep: `node` in `node`, and `id` as the innermost. */
const deep = (levels: number) => {
  const outer = levels - 1;
  return `{ ${'node { '.repeat(outer)} id ${'} '.repeat(outer)} }`;
};

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
    expect(extensionsOf(text, { [name]: value - 1 })).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit, value, maximum: value - 1 },
    ]);
  });

  test('of variables applies to each operation, whether it is executed or not', () => {
    const definitions = (count: number) => repeat(count, (index) => `$v${index}: Int = 1`);
    const uses = repeat(100, (index) => `$v${index}`);
    const text = (count: number) => `query A(${definitions(count)}) { node(at: [${uses}]) { id } }
      query B(${definitions(100)}) { node(at: [${uses}]) { id } }`;
    expect(errorsOf(text(100))).toEqual([]);
    expect(extensionsOf(text(101))).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'variables', value: 101, maximum: 100 },
    ]);
  });

  test.each([
    ['a response key', (name: string) => `{ ${name}: node { id } }`],
    ['the label of a part', (name: string) => `{ ... @part(label: "${name}") { node { id } } }`],
  ])('of 255 characters applies to %s', (_what, text) => {
    expect(errorsOf(text('n'.repeat(255)))).toEqual([]);
    expect(extensionsOf(text('n'.repeat(256)))).toEqual([
      {
        code: 'QUERY_TOO_COMPLEX',
        retryable: false,
        limit: 'name length',
        value: 256,
        maximum: 255,
      },
    ]);
  });

  test('of nesting, 500 levels, applies before the stack overflows, for every kind of bracket', () => {
    const texts = [
      '{a'.repeat(1_900),
      `{ node(at: ${'['.repeat(1_900)}${']'.repeat(1_900)}) { id } }`,
      `{ node(at: ${'{a:'.repeat(900)}1${'}'.repeat(900)}) { id } }`,
    ];
    for (const text of texts) {
      expect(extensionsOf(text)).toMatchObject([{ code: 'QUERY_TOO_COMPLEX', limit: 'nesting' }]);
    }
    expect(errorsOf(`{ node(at: ${'['.repeat(490)}${']'.repeat(490)}) { id } }`)).toEqual([]);
    expect(errorsOf(deep(490), documents({ maxDepth: 500 }))).toEqual([]);
  });
});

test('a mutation has at most five fields and one login, including fields in fragments', () => {
  const login = 'login(input: { email: "a", password: "b" }) { id }';
  expect(extensionsOf(`mutation { a: ${login} ...F } fragment F on Mutation { ${login} }`)).toEqual(
    [{ code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'login fields', value: 2, maximum: 1 }],
  );
  const writes = (count: number) =>
    `mutation { ${repeat(count, (index) => `w${index}: write { id }`)} }`;
  expect(extensionsOf(writes(6))).toMatchObject([{ limit: 'mutation fields' }]);
  expect(errorsOf(writes(5))).toEqual([]);
});

describe('an error message', () => {
  const secrets = ['hunter2canary', '8675', 'x9z'];
  const inputs = [
    'email: "a", password: hunter2canary',
    'email: "a", password: x9z',
    'email: "a", password: 8675',
    'email: "a", password: "b", pin: "hunter2canary"',
    'email: "a", password: ["hunter2canary"]',
    'email: "a", password: """\n  hunter2canary\n  hunter2canary\n"""  , nope: 1',
    'email: "a", nope: "hunter2canary"',
    'email: "a", password: "b", side: hunter2canary',
    // In these inputs a quotation mark is missing, or there is one too many.
    'email: "a", password: "b" hunter2canary }',
    'email: "a", password: "hunter2canary',
    'email: "a", password: hunter2canary"',
    'email: "a", password "hunter2canary"',
    'email: "a", password """hunter2canary"""',
  ];

  test.each(inputs)('about an invalid document never contains its values: %s', (input) => {
    const errors = errorsOf(`mutation { login(input: { ${input} }) { id } }`);
    expect(errors.length).toBeGreaterThan(0);
    for (const secret of secrets) expect(JSON.stringify(errors)).not.toContain(secret);
  });

  test('has a location, and a document gets at most ten messages', () => {
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
  const fifty = (make: (index: number) => string) =>
    Array.from({ length: 50 }, (_, index) => make(index)).join('\n');

  /** Returns the errors of a document, and asserts that they fit into a short answer. */
  function shortErrorsOf(text: string, from?: Documents) {
    const errors = errorsOf(text, from);
    expect(JSON.stringify({ errors }).length).toBeLessThan(4_000);
    return errors;
  }

  test.each([
    ['a field', (index: number) => `query Q${index} { nope }`, /"nope"/],
    ['an argument', (index: number) => `query Q${index} { nodes(last: 1) { id } }`, /"last"/],
    ['a repeated name', () => 'query Q { node { id } }', /"Q"/],
    ['no name', () => '{ node { id } }', /anonymous/],
    ['a variable', (index: number) => `query Q${index} { nodes(first: $n) { id } }`, /"\$n"/],
  ])('gets errors with locations for its first mistakes: %s', (_what, make, message) => {
    const errors = shortErrorsOf(fifty(make));
    expect(errors).toHaveLength(10);
    for (const error of errors) {
      expect(error.message).toMatch(message);
      expect(error.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(error.locations?.length).toBeGreaterThan(0);
    }
  });

  test('gets one error per limit, at the first operation that exceeds it', () => {
    // The first thirty operations are 15 levels deep. The thirty-first, on line 31, is the first that is too deep.
    const levels = (index: number) => (index < 30 ? 15 : index);
    const limits = { maxTokens: 10_000, maxDepth: 29 };
    const errors = shortErrorsOf(
      fifty((index) => `query Q${index} ${deep(levels(index))}`),
      documents(limits),
    );
    expect(errors).toMatchObject([
      { extensions: { limit: 'MAX_DEPTH', value: 30 }, locations: [{ line: 31, column: 1 }] },
    ]);
  });
});

test('a document that is too costly to validate is refused', () => {
  // Validation compares each pair of fields argument by argument.
  const args = repeat(120, (index) => `a${index}: 1`);
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
  // Through its nodes an error would keep the document's tree in memory.
  for (const { nodes, stack } of errors) {
    expect(nodes).toBeUndefined();
    expect(stack).not.toMatch(/\n {4}at /);
  }
});

test('an accepted document takes the memory of its tree, and a refused document takes the memory of its text', () => {
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

test('prepared documents take at most `maxBytes` of memory, and the latest document is kept', () => {
  const maxBytes = 50_000;
  const kept = new Documents({ schema, limits: LIMITS, introspection: true, maxBytes });
  const texts = Array.from({ length: 100 }, (_, index) => `{ a${index}: node { id } }`);
  for (const text of texts) {
    kept.prepare(text);
    expect(kept.byteSize).toBeLessThanOrEqual(maxBytes);
  }
  const isKept = texts.map((text) => kept.isPrepared(text));
  expect([isKept[0], isKept.at(-1)]).toEqual([false, true]);
});

test('the byte size of the documents includes their compiled code', async () => {
  const from = documents();
  const text = '{ node { id } }';
  const { document, operations } = from.prepare(text) as PreparedDocument;
  const before = from.byteSize;
  const executor = operations.get(null)?.executor;
  executor?.compileFromNowOn();
  const args = argsOf(schema, print(document));
  await executor?.execute(args, meterFor(args));
  // The code of each field, `node` and `id`, counts as 1 KiB.
  expect(executor?.compiledFields).toBe(2);
  expect(from.byteSize).toBe(before + 2 * 1_024);
});

/** The exceeded limits of a document, each with the document's value. The document's fields need not exist. */
function refusals(text: string) {
  const document = parse(text);
  return limitErrors(document, LIMITS, new Selections(schema, document)).map(
    ({ message, extensions }) => [extensions.limit ?? message, extensions.value],
  );
}

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
  const spread = (index: number) => `...F${index % 200}`;
  const fragments = repeat(
    200,
    (index) => `fragment F${index} on Query { ${spread(index + 1)} ${spread(index + 7)} }`,
  );
  expect(refusals(`{ ...F0 } ${fragments}`)).toContainEqual(['selections', 10_001]);
});

test('a document has at most ten thousand selections', () => {
  const fields = (count: number) => `{ ${repeat(count, (index) => `f${index}`)} }`;
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
  const spreads = repeat(times, (index) => `...F${index}`);
  const fragments = repeat(times, (index) => `fragment F${index} on Query { id }`);
  // The spreads form pairs, and so do the `id` fields in the fragments.
  expect(refusals(`{ ${spreads} } ${fragments}`)).toEqual([['repeated fields', pairs * 2]]);
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
