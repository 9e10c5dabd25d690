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

const INSTRUMENT_FIELDS =
  'id symbol name description logo access calc delayed digits industry leverage limit mCurrency mFx max min mode pCurrency pFx pdt quotes sector session step';

/** A text of many operations like those of clients. */
const plainOperations: Write = (n) => times(n, (i) => `query Q${i} { ${FIELDS} }`);

const inQuery = (selections: string) => `query Q { ${selections} }`;
const fragment = (name: string, selections: string) =>
  `fragment ${name} on Query { ${selections} }`;
const byIds = (values: string) => `instrumentsByIds(ids: [${values}]) { id }`;
const ids = (values: string) => inQuery(byIds(values));
const value = (literal: string) =>
  `mutation Q { setValue(input: { key: "k", value: ${literal} }) { __typename } }`;
/** The selections of the fragment `F${i}` in a chain of n: spreads of the next fragment, or a field in the last. */
const link = (n: number, i: number, spreads = (next: string) => next) =>
  i < n - 1 ? spreads(`...F${i + 1}`) : '__typename';
const withVariables = (definitions: string, selections = '__typename') =>
  `query Q(${definitions}) { ${selections} }`;

/** Writers for each element that can be repeated, in each place where it could cause extra work. */
const WRITERS: Readonly<Record<string, Write>> = {
  fields: (n) => inQuery(times(n, (i) => `f${i}`)),
  'fields, one repeated': (n) => inQuery(times(n, () => '__typename')),
  'objects, one repeated': (n) => inQuery(times(n, () => 'session { login }')),
  'objects with several fields, one repeated': (n) =>
    inQuery(times(n, () => 'session { balance equity login }')),
  'fields, nested': (n) => inQuery(nested(n, 'positions { instrument {', 'id', '} }')),
  'fields, each in its own operation': plainOperations,
  'fields of introspection': (n) =>
    times(
      n,
      (i) => `query Q${i} { __schema { types { name fields { name type { name kind } } } } }`,
    ),
  'variables with a default that is refused': (n) =>
    withVariables(times(n, (i) => `$v${i}: Float = 0.10000000000000000001`)),
  'variables, undefined': (n) => ids(times(n, (i) => `$v${i}`)),
  'variables, used by each operation': (n) => {
    const operations = times(Math.min(n, 50), (i) => `query Q${i}($v: ID!) { ...F }`);
    const uses = times(n * 6, () => '$v');
    return `${operations} ${fragment('F', byIds(uses))}`;
  },
  arguments: (n) => inQuery(`session(${times(n, (i) => `a${i}: 1`)}) { login }`),
  'arguments of repeated fields': (n) =>
    inQuery(
      times(
        100,
        () => `instruments(filter: { symbols: [${times(n, () => '"a"')}] }) { totalCount }`,
      ),
    ),
  aliases: (n) => inQuery(times(n, (i) => `a${i}: __typename`)),
  'fragments, spread by each operation': (n) => {
    const spreads = times(n, (i) => `...F${i}`);
    const operations = times(20, (i) => `query Q${i} { ${spreads} }`);
    return `${operations} ${fragments(n, () => '__typename')}`;
  },
  'fragments, chained': (n) => `${inQuery('...F0')} ${fragments(n, (i) => link(n, i))}`,
  'fragments, in a cycle': (n) =>
    `${inQuery('...F0')} ${fragments(n, (i) => `...F${(i + 1) % n}`)}`,
  'fragments, doubled': (n) =>
    `${inQuery('...F0')} ${fragments(n, (i) => link(n, i, (next) => `${next} ${next}`))}`,
  'fragments, spread by subscriptions': (n) => {
    const operations = times(Math.min(n, 50), (i) => `subscription Q${i} { ...F0 }`);
    const links = times(n, (i) => `fragment F${i} on Subscription { ${link(n, i)} }`);
    return `${operations} ${links}`;
  },
  'subscriptions, with a fragment of another operation': (n) => {
    const subscriptions = times(n, (i) => `subscription Q${i} { positions { id } }`);
    return `${subscriptions} query F { ...F } ${fragment('F', byIds(times(n * 8, () => '"a"')))}`;
  },
  'fragments, in many places': (n) => {
    // An operation may have thirty aliases.
    const places = times(30, (i) => `a${i}: instrumentsByIds(ids: []) { ...F }`);
    const operations = times(Math.ceil(n / 30), (i) => `query Q${i} { ${places} }`);
    return `${operations} fragment F on Instrument { ${INSTRUMENT_FIELDS} }`;
  },
  'fragments, doubled by a variable': (n) => {
    // An operation may have twenty directives.
    const skip = (i: number) => (i < 18 ? '@skip(if: $v)' : '');
    const links = fragments(n, (i) => link(n, i, (next) => `${next} ${skip(i)} ${next}`));
    return `query Q($v: Boolean!) { ...F0 @include(if: $v) } ${links}`;
  },
  'fragments, undefined': (n) => inQuery(times(n, (i) => `...F${i}`)),
  'directives of one field': (n) => inQuery(`__typename ${times(n, () => '@include(if: true)')}`),
  'directives of the operation': (n) => `query Q ${times(n, (i) => `@d${i}`)} { __typename }`,
  'lists, nested': (n) => value(nested(n, '[', '', ']')),
  'lists of the wrong type': (n) =>
    inQuery(`session(maxAge: [${times(n, () => '"a"')}]) { login }`),
  'objects, nested': (n) => value(nested(n, '{ a:', '1', '}')),
  'objects with many fields': (n) => value(`{ ${times(n, (i) => `a${i}: 1`)} }`),
  'objects with one repeated field': (n) =>
    inQuery(`instruments(filter: { ${times(n, () => 'search: "a"')} }) { totalCount }`),
  operations: (n) => times(n, (i) => `query Q${i} { __typename }`),
  comments: (n) => `${'#\n'.repeat(n)} ${inQuery('__typename')}`,
  'a comment': (n) => `#${'c'.repeat(n)}\n${inQuery('__typename')}`,
  'lines before errors': (n) => `${'\n'.repeat(n)} ${inQuery(times(100, (i) => `f${i}`))}`,
  'lines before fields that fail': (n) =>
    `${'\n'.repeat(n)} ${inQuery(times(30, (i) => `a${i}: session(maxAge: -1) { login }`))}`,
  'lines between errors': (n) => inQuery(times(1_000, (i) => `f${i}${'\n'.repeat(n)}`)),
  strings: (n) => ids(times(n, (i) => `"${i}"`)),
  'a string of escapes': (n) => ids(`"${'\\n'.repeat(n)}"`),
  'a string of the wrong type': (n) => inQuery(`session(maxAge: "${'1@'.repeat(n)}") { login }`),
  'strings of the wrong type': (n) =>
    inQuery(`session(maxAge: [${times(n, (i) => `"${i}${'1@'.repeat(20)}"`)}]) { login }`),
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
  'abstract types, each with selections of its own at each level': (n) => {
    const levels = times(n, (i) => {
      const rest = (key: string) =>
        `parent { ${nested(n - i, 'parent {', `${key}${i}: id`, '}')} }`;
      const next = i < n - 1 ? `...F${i + 1}` : 'id';
      return `fragment F${i} on Node { ... on A { ${rest('a')} } ... on B { ${rest('b')} } parent { ${next} } }`;
    });
    return `{ node { ...F0 } } ${levels}`;
  },
  'abstract types, nested in lists': (n) => `{ node { ${nested(n, 'nodes {', 'id', '}')} } }`,
};

/** The largest document and request: those of the service, or smaller ones in a quick run. */
const LARGEST = inFull(
  { maxTokens: 4_000, maxBytes: 262_144 },
  { maxTokens: 1_500, maxBytes: 98_304 },
);
const LIMITS = { maxTokens: LARGEST.maxTokens, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };
/** Work may grow at most this many times faster than the text. If work were quadratic, this factor would be 2. */
const GROWTH = 1.4;
/** A document may take at most this multiple of the work of a plain one of the same size. The highest measured is 2.3. */
const TIMES_PLAIN = 4;

const schema = buildSchema();
const counter = fork(join(import.meta.dirname, 'work-counter.ts'));
/** The work of a plain document for each token, and for each character of a comment. */
const plain = { token: 0, character: 0 };

beforeAll(async () => {
  await once(counter, 'message');
  // The difference between two documents of different lengths leaves out the work that any document takes.
  const [few, many] = [plainOperations(20), plainOperations(40)];
  const workOfTokens = (await workOf(many)) - (await workOf(few));
  plain.token = workOfTokens / (size(many) - size(few));
  const comment = (length: number) => `#${'c'.repeat(length)}\n${few}`;
  const workOfCharacters = (await workOf(comment(40_000))) - (await workOf(comment(20_000)));
  plain.character = workOfCharacters / 20_000;
}, 60_000);
afterAll(async () => {
  counter.disconnect();
  await once(counter, 'exit');
});

test.each(Object.entries({ ...WRITERS, ...ABSTRACT_WRITERS }))(
  'the work grows linearly with the document: %s',
  { timeout: 60_000 },
  async (name, write) => {
    const sdl = name in ABSTRACT_WRITERS ? NESTED : undefined;
    const testSchema = sdl === undefined ? schema : buildASTSchema(parse(sdl));
    const isAllowed = (text: string) => isAdmitted(text, testSchema);
    // Tries the largest document that fits. If that is refused, also tries the largest one that is allowed.
    const largest = mostThatFit(write);
    const counts = [largest];
    if (!isAllowed(write(largest))) counts.push(mostThatFit(write, isAllowed));
    for (const count of counts) {
      const whole = write(count);
      const half = write(Math.ceil(count / 2));
      const work = await workOf(whole, sdl);
      const workOfHalf = await workOf(half, sdl);
      expect(work / workOfHalf).toBeLessThan((whole.length / half.length) * GROWTH);
      const plainWork = plain.token * size(whole) + plain.character * whole.length;
      expect(work / plainWork).toBeLessThan(TIMES_PLAIN);
    }
  },
);

test('unknown fields take less work than a plain document', async () => {
  const text = `{ ${Array.from({ length: LARGEST.maxTokens - 10 }, (_, i) => `f${i}`).join(' ')} }`;
  expect(await workOf(text)).toBeLessThan(plain.token * size(text));
});

test('the work is counted in fine steps: a plain document takes more than a hundred for a token', () => {
  expect(plain.token).toBeGreaterThan(100);
  expect(plain.character).toBeGreaterThan(1);
});

async function workOf(text: string, sdl?: string): Promise<number> {
  counter.send({ text, limits: LIMITS, ...(sdl && { sdl }) } satisfies WorkQuestion);
  const [work] = (await once(counter, 'message')) as [number];
  return work;
}

/** Whether the document keeps the limits. It may have other errors. */
function isAdmitted(text: string, testSchema: GraphQLSchema): boolean {
  const documents = new Documents({ schema: testSchema, limits: LIMITS, introspection: true });
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
  const bodyBytes = Buffer.byteLength(JSON.stringify({ query: text }));
  return bodyBytes <= LARGEST.maxBytes && size(text) <= LARGEST.maxTokens;
}

/** The number of tokens of a text, counted up to just above the limit. */
function size(text: string): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  try {
    while (tokens <= LARGEST.maxTokens && lexer.advance().kind !== TokenKind.EOF) tokens += 1;
  } catch {
    // An invalid token ends the text.
  }
  return tokens;
}

function fragments(count: number, selections: (i: number) => string): string {
  return times(count, (i) => fragment(`F${i}`, selections(i)));
}

function times(count: number, write: (i: number) => string): string {
  return Array.from({ length: count }, (_, i) => write(i)).join(' ');
}

function nested(count: number, open: string, inside: string, close: string): string {
  return `${`${open} `.repeat(count)}${inside}${` ${close}`.repeat(count)}`;
}
