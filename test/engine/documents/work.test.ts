import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { buildASTSchema, type GraphQLSchema, Lexer, parse, Source, TokenKind } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Documents } from '../../../src/engine/documents/documents.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { inFull } from '../../support/in-full.ts';
import type { WorkQuestion } from './work-counter.ts';

/** Writes a document that contains one element of the grammar this many times, and little else. */
type Write = (count: number) => string;

const FIELDS =
  'session { balance equity login } positions { id symbol side } instruments { totalCount }';

const INSTRUMENT =
  'id symbol name description logo access calc delayed digits industry leverage limit mCurrency mFx max min mode pCurrency pFx pdt quotes sector session step';

/** A text of many operations like those of clients. */
const plainOperations: Write = (n) => times(n, (at) => `query Q${at} { ${FIELDS} }`);

const inQuery = (selections: string) => `query Q { ${selections} }`;
const fragment = (name: string, selections: string) =>
  `fragment ${name} on Query { ${selections} }`;
const ids = (values: string) => inQuery(`instrumentsByIds(ids: [${values}]) { id }`);
const value = (literal: string) =>
  `mutation Q { setValue(input: { key: "k", value: ${literal} }) { __typename } }`;
const withVariables = (definitions: string, selections = '__typename') =>
  `query Q(${definitions}) { ${selections} }`;

/** Writers for each element that can be repeated, in each place where it could cause extra work. */
const WRITERS: Readonly<Record<string, Write>> = {
  fields: (n) => inQuery(times(n, (at) => `f${at}`)),
  'fields, one repeated': (n) => inQuery(times(n, () => '__typename')),
  'objects, one repeated': (n) => inQuery(times(n, () => 'session { login }')),
  'objects with several fields, one repeated': (n) =>
    inQuery(times(n, () => 'session { balance equity login }')),
  'objects, one repeated in an unused fragment': (n) =>
    `${inQuery('__typename')} ${fragment(
      'F',
      times(n, () => 'session { login }'),
    )}`,
  'fields, nested': (n) => inQuery(nested(n, 'positions { instrument {', 'id', '} }')),
  'fields, each in its own operation': plainOperations,
  'fields of a subscription': (n) => `subscription Q { ${times(n, (at) => `f${at}`)} }`,
  'fields of introspection': (n) =>
    times(
      n,
      (at) => `query Q${at} { __schema { types { name fields { name type { name kind } } } } }`,
    ),
  'variables, unused': (n) => withVariables(times(n, (at) => `$v${at}: Int`)),
  'variables with a default that is refused': (n) =>
    withVariables(times(n, (at) => `$v${at}: Float = 0.10000000000000000001`)),
  'variables with nested list types': (n) => withVariables(`$v: ${nested(n, '[', 'Int', ']')}`),
  'variables, undefined': (n) => ids(times(n, (at) => `$v${at}`)),
  'variables, one repeated': (n) =>
    withVariables('$v: ID!', `instrumentsByIds(ids: [${times(n, () => '$v')}]) { id }`),
  'variables, used by each operation': (n) =>
    `${times(Math.min(n, 50), (at) => `query Q${at}($v: ID!) { ...F }`)} ${fragment('F', `instrumentsByIds(ids: [${times(n * 6, () => '$v')}]) { id }`)}`,
  arguments: (n) => inQuery(`session(${times(n, (at) => `a${at}: 1`)}) { login }`),
  'arguments of repeated fields': (n) =>
    inQuery(
      times(
        100,
        () => `instruments(filter: { symbols: [${times(n, () => '"a"')}] }) { totalCount }`,
      ),
    ),
  'arguments of repeated fields, long': (n) =>
    inQuery(times(100, () => `instruments(filter: { search: "${'a'.repeat(n)}" }) { totalCount }`)),
  aliases: (n) => inQuery(times(n, (at) => `a${at}: __typename`)),
  'fragments, unused': (n) => `${inQuery('__typename')} ${fragments(n, () => '__typename')}`,
  'fragments, spread': (n) =>
    `${inQuery(times(n, (at) => `...F${at}`))} ${fragments(n, () => '__typename')}`,
  'fragments, spread by each operation': (n) =>
    `${times(20, (at) => `query Q${at} { ${times(n, (of) => `...F${of}`)} }`)} ${fragments(n, () => '__typename')}`,
  'fragments, chained': (n) =>
    `${inQuery('...F0')} ${fragments(n, (at) => (at < n - 1 ? `...F${at + 1}` : '__typename'))}`,
  'fragments, in a cycle': (n) =>
    `${inQuery('...F0')} ${fragments(n, (at) => `...F${(at + 1) % n}`)}`,
  'fragments, doubled': (n) =>
    `${inQuery('...F0')} ${fragments(n, (at) => (at < n - 1 ? `...F${at + 1} ...F${at + 1}` : '__typename'))}`,
  'fragments, spread by subscriptions': (n) =>
    `${times(Math.min(n, 50), (at) => `subscription Q${at} { ...F0 }`)} ${times(n, (at) => `fragment F${at} on Subscription { ${at < n - 1 ? `...F${at + 1}` : '__typename'} }`)}`,
  'subscriptions, with a fragment of another operation': (n) =>
    `${times(n, (at) => `subscription Q${at} { positions { id } }`)} query F { ...F } ${fragment('F', `instrumentsByIds(ids: [${times(n * 8, () => '"a"')}]) { id }`)}`,
  'fragments, one repeated': (n) =>
    `${inQuery(times(n, () => '...F'))} ${fragment('F', '__typename')}`,
  'fragments, in many places': (n) =>
    `${times(Math.ceil(n / 30), (at) => `query Q${at} { ${times(30, (of) => `a${of}: instrumentsByIds(ids: []) { ...F }`)} }`)} fragment F on Instrument { ${INSTRUMENT} }`,
  'fragments, doubled by a variable': (n) =>
    `query Q($v: Boolean!) { ...F0 @include(if: $v) } ${fragments(n, (at) => (at < n - 1 ? `...F${at + 1} ${at < 18 ? '@skip(if: $v)' : ''} ...F${at + 1}` : '__typename'))}`,
  'fragments, undefined': (n) => inQuery(times(n, (at) => `...F${at}`)),
  'inline fragments': (n) => inQuery(times(n, () => '... { __typename }')),
  directives: (n) => inQuery(times(n, () => '__typename @include(if: true)')),
  'directives of one field': (n) => inQuery(`__typename ${times(n, () => '@include(if: true)')}`),
  'directives of the operation': (n) => `query Q ${times(n, (at) => `@d${at}`)} { __typename }`,
  'directives by a variable': (n) =>
    withVariables(
      '$v: Boolean!',
      times(n, () => '__typename @include(if: $v)'),
    ),
  'lists, nested': (n) => value(nested(n, '[', '', ']')),
  'lists of numbers': (n) => value(`[${times(n, () => '1')}]`),
  'lists of the wrong type': (n) =>
    inQuery(`session(maxAge: [${times(n, () => '"a"')}]) { login }`),
  'objects, nested': (n) => value(nested(n, '{ a:', '1', '}')),
  'objects with many fields': (n) => value(`{ ${times(n, (at) => `a${at}: 1`)} }`),
  'objects with unknown fields': (n) =>
    inQuery(`instruments(filter: { ${times(n, (at) => `a${at}: 1`)} }) { totalCount }`),
  'objects with one repeated field': (n) =>
    inQuery(`instruments(filter: { ${times(n, () => 'search: "a"')} }) { totalCount }`),
  operations: (n) => times(n, (at) => `query Q${at} { __typename }`),
  'operations with the same name': (n) => times(n, () => inQuery('__typename')),
  'a description': (n) => `"""${'d\n'.repeat(n)}""" ${inQuery('__typename')}`,
  comments: (n) => `${'#\n'.repeat(n)} ${inQuery('__typename')}`,
  'a comment': (n) => `#${'c'.repeat(n)}\n${inQuery('__typename')}`,
  'lines before errors': (n) => `${'\n'.repeat(n)} ${inQuery(times(100, (at) => `f${at}`))}`,
  'lines before fields that fail': (n) =>
    `${'\n'.repeat(n)} ${inQuery(times(30, (at) => `a${at}: session(maxAge: -1) { login }`))}`,
  'lines between errors': (n) => inQuery(times(1_000, (at) => `f${at}${'\n'.repeat(n)}`)),
  strings: (n) => ids(times(n, (at) => `"${at}"`)),
  'a string of escapes': (n) => ids(`"${'\\n'.repeat(n)}"`),
  'a string of lines': (n) => ids(`"""${' \n'.repeat(n)}"""`),
  'a string of the wrong type': (n) => inQuery(`session(maxAge: "${'1@'.repeat(n)}") { login }`),
  'strings of the wrong type': (n) =>
    inQuery(`session(maxAge: [${times(n, (at) => `"${at}${'1@'.repeat(20)}"`)}]) { login }`),
  'a name': (n) => inQuery('x'.repeat(n)),
  'a number': (n) => inQuery(`session(maxAge: ${'1'.repeat(n)}) { login }`),
  'a number whose digits would be lost': (n) => value(`0.${'1'.repeat(n)}`),
  'text that is not GraphQL': (n) => '"'.repeat(n),
};

const TYPES = ['A', 'B', 'C', 'D', 'E'];
/** Each level can have any of these types, whose fields lead to the next level. */
const NESTED = `interface Node { id: ID parent: Node nodes: [Node] }
  ${TYPES.map((name) => `type ${name} implements Node { id: ID parent: Node nodes: [Node] }`).join(' ')}
  type Query { node: Node }`;
const ABSTRACT_WRITERS: Readonly<Record<string, Write>> = {
  'abstract types, nested': (n) => `{ node { ${nested(n, 'parent {', 'id', '}')} } }`,
  'abstract types, each with selections of its own at each level': (n) =>
    `{ node { ...F0 } } ${times(n, (at) => {
      const rest = (key: string) =>
        `parent { ${nested(n - at, 'parent {', `${key}${at}: id`, '}')} }`;
      return `fragment F${at} on Node { ... on A { ${rest('a')} } ... on B { ${rest('b')} } parent { ${at < n - 1 ? `...F${at + 1}` : 'id'} } }`;
    })}`,
  'abstract types, nested in lists': (n) => `{ node { ${nested(n, 'nodes {', 'id', '}')} } }`,
};

const ROOM = inFull(
  { maxTokens: 4_000, maxBytes: 262_144 },
  { maxTokens: 1_500, maxBytes: 98_304 },
);
const LIMITS = { maxTokens: ROOM.maxTokens, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };
/** Work may grow at most this many times faster than the text. With quadratic work it would be 2. */
const GROWTH = 1.4;
/** A document may take at most this multiple of the work of a plain one of the same size. The highest measured is 2.3. */
const TIMES_PLAIN = 4;

const schema = buildSchema();
const counter = fork(join(import.meta.dirname, 'work-counter.ts'));
/** The work of a plain document for each token, and for each character of a comment. */
const plain = { token: 0, character: 0 };

beforeAll(async () => {
  await once(counter, 'message');
  const [few, many] = [plainOperations(20), plainOperations(40)];
  plain.token = ((await workOf(many)) - (await workOf(few))) / (size(many) - size(few));
  const comment = (length: number) => `#${'c'.repeat(length)}\n${few}`;
  plain.character = ((await workOf(comment(40_000))) - (await workOf(comment(20_000)))) / 20_000;
}, 60_000);
afterAll(async () => {
  counter.disconnect();
  await once(counter, 'exit');
});

test.each(Object.entries({ ...WRITERS, ...ABSTRACT_WRITERS }))(
  'the work for %s grows linearly with the document',
  { timeout: 60_000 },
  async (name, write) => {
    const sdl = name in ABSTRACT_WRITERS ? NESTED : undefined;
    const of = sdl === undefined ? schema : buildASTSchema(parse(sdl));
    const isAllowed = (text: string) => isAdmitted(text, of);
    // Tries the largest document that fits, and if that is refused, also the largest one that is allowed.
    const largest = mostThatFit(write);
    const largestAllowed = isAllowed(write(largest)) ? [] : [mostThatFit(write, isAllowed)];
    for (const most of [largest, ...largestAllowed]) {
      const [whole, half] = [write(most), write(Math.ceil(most / 2))];
      const [work, workOfHalf] = [await workOf(whole, sdl), await workOf(half, sdl)];
      expect(work / workOfHalf).toBeLessThan((whole.length / half.length) * GROWTH);
      const plainWork = plain.token * size(whole) + plain.character * whole.length;
      expect(work / plainWork).toBeLessThan(TIMES_PLAIN);
    }
  },
);

test('unknown fields take no more work than known ones', async () => {
  const text = `{ ${Array.from({ length: ROOM.maxTokens - 10 }, (_, at) => `f${at}`).join(' ')} }`;
  expect(await workOf(text)).toBeLessThan(plain.token * size(text));
});

test('the count measures work: a plain document takes more than a hundred steps per token', () => {
  expect(plain.token).toBeGreaterThan(100);
  expect(plain.character).toBeGreaterThan(1);
});

async function workOf(text: string, sdl?: string): Promise<number> {
  counter.send({ text, limits: LIMITS, ...(sdl && { sdl }) } satisfies WorkQuestion);
  const [work] = (await once(counter, 'message')) as [number];
  return work;
}

function isAdmitted(text: string, of: GraphQLSchema): boolean {
  const documents = new Documents({ schema: of, limits: LIMITS, introspection: true });
  const prepared = documents.prepare(text);
  if (prepared.kind === 'document') return true;
  return prepared.errors.every(({ extensions }) => extensions.code !== 'QUERY_TOO_COMPLEX');
}

/** The largest count with which the document fits and is allowed. */
function mostThatFit(write: Write, isAllowed: (text: string) => boolean = () => true): number {
  const isFitting = (count: number) => fits(write(count)) && isAllowed(write(count));
  let beyond = 2;
  while (isFitting(beyond)) beyond *= 2;
  let fitting = beyond / 2;
  while (beyond - fitting > 1) {
    const middle = Math.floor((fitting + beyond) / 2);
    if (isFitting(middle)) fitting = middle;
    else beyond = middle;
  }
  return fitting;
}

function fits(text: string): boolean {
  return (
    Buffer.byteLength(JSON.stringify({ query: text })) <= ROOM.maxBytes &&
    size(text) <= ROOM.maxTokens
  );
}

/** The number of tokens of a text, counted up to just above the limit. */
function size(text: string): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  try {
    while (tokens <= ROOM.maxTokens && lexer.advance().kind !== TokenKind.EOF) tokens += 1;
  } catch {
    // An invalid token ends the text.
  }
  return tokens;
}

function fragments(count: number, selections: (at: number) => string): string {
  return times(count, (at) => fragment(`F${at}`, selections(at)));
}

function times(count: number, write: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => write(at)).join(' ');
}

function nested(count: number, open: string, inside: string, close: string): string {
  return `${`${open} `.repeat(count)}${inside}${` ${close}`.repeat(count)}`;
}
