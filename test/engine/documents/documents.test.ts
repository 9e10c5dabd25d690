import { type ASTNode, buildSchema, visit } from 'graphql';
import { describe, expect, test } from 'vitest';
import {
  type DocumentOptions,
  Documents,
  type PreparedDocument,
} from '../../../engine/documents/documents.ts';

const schema = buildSchema(`
  scalar JSON
  enum Side { BUY SELL }
  input Login { email: String!, password: String!, pin: Int, side: Side }
  type Node { id: ID, node: Node, nodes: [Node] }
  type Query { node(at: JSON): Node, nodes(first: Int): [Node] }
  type Mutation { login(input: Login!): Node, write: Node }
`);

// As the schema of this project says it of its own field.
Object.assign(schema.getMutationType()?.getFields().login ?? {}, {
  extensions: { mostSelected: 1 },
});

function documents(options: Partial<DocumentOptions['limits']> = {}, more = {}) {
  const limits = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20, ...options };
  return new Documents({ schema, limits, introspection: true, ...more });
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

describe('the limit', () => {
  const yes = 'query ($yes: Boolean!)';
  test.each([
    ['tokens', '{ node { id } }', 'maxTokens', 'MAX_TOKENS', 6],
    [
      'lines, since errors look for theirs',
      `#\r\n{ node { id } }${'\n'.repeat(9)}`,
      ...(['maxTokens', 'MAX_TOKENS', 11] as const),
    ],
    ['levels of fields', deep(16), 'maxDepth', 'MAX_DEPTH', 16],
    [
      'levels through fragments',
      '{ node { ...A } } fragment A on Node { node { ...B } } fragment B on Node { ... on Node { node { id } } }',
      ...(['maxDepth', 'MAX_DEPTH', 4] as const),
    ],
    [
      'aliases, each time a fragment is used',
      '{ node { ...A node { ...A } } } fragment A on Node { a: id b: id }',
      ...(['maxAliases', 'MAX_ALIASES', 4] as const),
    ],
    [
      'directives of fields and of fragments',
      `${yes} { node @include(if: $yes) { ...A @skip(if: $yes) ... @include(if: $yes) { id } } }
       fragment A on Node { id @skip(if: $yes) }`,
      ...(['maxDirectives', 'MAX_DIRECTIVES', 4] as const),
    ],
  ] as const)('counts %s', (_what, text, name, limit, value) => {
    expect(errorsOf(text, documents({ [name]: value }))).toEqual([]);
    expect(tooComplex(text, { [name]: value - 1 })).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit, value, maximum: value - 1 },
    ]);
  });

  test('of variables holds for each operation, used or not', () => {
    const definitions = (count: number) =>
      Array.from({ length: count }, (_, at) => `$v${at}: Int = 1`).join(' ');
    const uses = Array.from({ length: 100 }, (_, at) => `$v${at}`).join(' ');
    const text = (count: number) => `query A(${definitions(count)}) { node(at: [${uses}]) { id } }
      query B(${definitions(100)}) { node(at: [${uses}]) { id } }`;
    expect(errorsOf(text(100))).toEqual([]);
    expect(tooComplex(text(101))).toEqual([
      { code: 'QUERY_TOO_COMPLEX', retryable: false, limit: 'variables', value: 101, maximum: 100 },
    ]);
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

  test.each(['x9z', 'zq7wk'])('does not hold a short password either: %s', (password) => {
    const [error] = errorsOf(
      `mutation { login(input: { email: "a", password: ${password} }) { id } }`,
    );
    expect(error?.message).toContain('[…]');
    expect(error?.message).not.toContain(password);
  });

  test('says where, and there are only so many of them', () => {
    expect(errorsOf('{\n  nope\n}')[0]?.locations).toEqual([{ line: 2, column: 3 }]);
    expect(errorsOf(`{ ${'nope '.repeat(100)} }`)).toHaveLength(10);
  });

  test('about a fragment in a circle is short, however long its name', () => {
    const name = 'x'.repeat(100_000);
    const errors = errorsOf(`{ ...${name} } fragment ${name} on Query { ...${name} }`);
    expect(JSON.stringify(errors).length).toBeLessThan(1_000);
    expect(errorsOf('{ ...A } fragment A on Query { ...A }')[0]?.message).toContain('"A"');
  });
});

describe('of fifty operations', () => {
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
    ['a name that repeats', () => 'query Q { node { id } }', /"Q"/],
    ['no name', () => '{ node { id } }', /anonymous/],
    ['a variable', (at: number) => `query Q${at} { nodes(first: $n) { id } }`, /"\$n"/],
  ])('what is wrong with the first ones is said, and where: %s', (_what, make, message) => {
    const errors = small(fifty(make));
    expect(errors).toHaveLength(10);
    for (const error of errors) {
      expect(error.message).toMatch(message);
      expect(error.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      expect(error.locations?.length).toBeGreaterThan(0);
    }
  });

  test('the one that passes a limit most is named, once for each limit', () => {
    const levels = (at: number) => (at === 30 ? 20 : 16);
    const errors = small(fifty((at) => `query Q${at} ${deep(levels(at))}`));
    expect(errors).toMatchObject([
      { extensions: { limit: 'MAX_DEPTH', value: 20 }, locations: [{ line: 31, column: 1 }] },
    ]);
    const both = fifty((at) => `query ${at < 3 ? '@a'.repeat(21) : ''} ${deep(16)}`);
    expect(
      small(both, documents({ maxTokens: 10_000 })).map(({ extensions }) => extensions.limit),
    ).toEqual(['MAX_DEPTH', 'MAX_DIRECTIVES']);
    const write = `mutation { ${Array.from({ length: 6 }, (_, at) => `w${at}: write { id }`)} }`;
    expect(small(fifty(() => write))).toMatchObject([
      { extensions: { limit: 'mutation fields', value: 6 }, locations: [{ line: 1, column: 1 }] },
    ]);
  });

  const uses = (times: number) => `node(at: [${'$a '.repeat(times - 1)} { b: $a }]) { id }`;

  test('uses of variables are counted, before validation gives up on them', () => {
    const text = (times: number) =>
      `${fifty((at) => `query Q${at}($a: Int) { ...F }`)} fragment F on Query { ${uses(times)} }`;
    // Of each operation its spread, the two fields and the uses; once more those of the fragment.
    expect(errorsOf(text(291))).toEqual([]);
    expect(small(text(292))).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'selections', value: 15_044 } },
    ]);
  });
});

test('a document that is too costly to validate is refused with an error of its own', () => {
  // Each of the pairs is compared argument by argument.
  const args = Array.from({ length: 120 }, (_, at) => `a${at}: 1`).join(' ');
  const text = `{ ${`node(${args}) { id } `.repeat(99)} }`;
  const errors = errorsOf(text, documents({ maxTokens: 100_000 }));
  expect(errors.map(({ extensions }) => extensions.code)).toEqual(['QUERY_TOO_COMPLEX']);
  expect(errors[0]?.message).toMatch(/too much work/);
});

test.each([
  ['{ node { x } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['query ($x: Int) { node { id } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['mutation A { login(input: 1e400) { id } write { id } }', 'GRAPHQL_VALIDATION_FAILED'],
  ['{ node(at: 1e400) { id } }', 'BAD_USER_INPUT'],
  [deep(16), 'QUERY_TOO_COMPLEX'],
  ['{ node { id } ] }', 'GRAPHQL_PARSE_FAILED'],
])('of a document that is refused its errors alone stay in memory: %s', (text, code) => {
  const errors = errorsOf(text);
  expect(errors.map(({ extensions }) => extensions.code)).toContain(code);
  for (const { nodes, stack } of errors) {
    expect(nodes).toBeUndefined();
    expect(stack).not.toMatch(/\n {4}at /);
  }
});

test('a document weighs what it holds, and no comment does', () => {
  const weightOf = (text: string) => {
    const prepared = documents();
    prepared.prepare(text);
    return prepared.byteSize;
  };
  const small = weightOf('{ node { id } }');
  expect(weightOf(`{ node { id } } #${'c'.repeat(1_000)}`)).toBeLessThan(2 * small);
  const fields = 'id '.repeat(100);
  expect(weightOf(`{ node { ${fields} } }`)).toBeGreaterThan(4 * small);
  expect(weightOf(`{ none { ${fields} } }`)).toBeLessThan(2 * small);
});

test('of a document that is prepared no token stays in memory', () => {
  const { document } = documents().prepare('{ node(at: [1]) { id } }') as PreparedDocument;
  const kept = ({ loc }: ASTNode) => {
    expect(Object.keys(loc ?? {})).toEqual(['start', 'end', 'source']);
  };
  visit(document, { enter: kept });
});
