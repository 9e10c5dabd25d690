import { Lexer, Source, TokenKind } from 'graphql';

/** Documents that consist, as far as they can, of one thing of the grammar that can be counted. */
export interface Shape {
  readonly name: string;
  readonly write: (count: number) => string;
}

export interface Room {
  readonly maxTokens: number;
  readonly maxBytes: number;
}

const FIELDS =
  'session { balance equity login } positions { id symbol side } instruments { totalCount }';

const INSTRUMENT =
  'id symbol name description logo access calc delayed digits industry leverage limit mCurrency mFx max min mode pCurrency pFx pdt quotes sector session step';

/** Nothing of it repeats much: as clients write their operations, all in one text. */
export const PLAIN: Shape = {
  name: 'plain operations',
  write: (count) => times(count, (at) => `query Q${at} { ${FIELDS} }`),
};

const inQuery = (selections: string) => `query Q { ${selections} }`;
const fragment = (name: string, selections: string) =>
  `fragment ${name} on Query { ${selections} }`;
const ids = (values: string) => inQuery(`instrumentsByIds(ids: [${values}]) { id }`);
const value = (literal: string) =>
  `mutation Q { setValue(input: { key: "k", value: ${literal} }) { __typename } }`;
const withVariables = (definitions: string, selections = '__typename') =>
  `query Q(${definitions}) { ${selections} }`;

/** Each countable thing, in each place where it may be more to somebody who reads it. */
const WRITERS: Readonly<Record<string, Shape['write']>> = {
  fields: (n) => inQuery(times(n, (at) => `f${at}`)),
  'fields, one again and again': (n) => inQuery(times(n, () => '__typename')),
  'fields, nested': (n) => inQuery(nested(n, 'positions { instrument {', 'id', '} }')),
  'fields of an operation each': (n) => PLAIN.write(n),
  'fields of a subscription': (n) => `subscription Q { ${times(n, (at) => `f${at}`)} }`,
  'fields of introspection': (n) =>
    times(
      n,
      (at) => `query Q${at} { __schema { types { name fields { name type { name kind } } } } }`,
    ),
  'variables, unused': (n) => withVariables(times(n, (at) => `$v${at}: Int`)),
  'variables, used once': (n) =>
    withVariables(
      times(n, (at) => `$v${at}: ID!`),
      `instrumentsByIds(ids: [${times(n, (at) => `$v${at}`)}]) { id }`,
    ),
  'variables, of a default': (n) => withVariables(times(n, (at) => `$v${at}: Int = 1`)),
  'variables, of a default that is refused': (n) =>
    withVariables(times(n, (at) => `$v${at}: Float = 0.10000000000000000001`)),
  'variables, of lists in lists': (n) => withVariables(`$v: ${nested(n, '[', 'Int', ']')}`),
  'variables, undefined': (n) => ids(times(n, (at) => `$v${at}`)),
  'variables, one again and again': (n) =>
    withVariables('$v: ID!', `instrumentsByIds(ids: [${times(n, () => '$v')}]) { id }`),
  'variables, used by each operation': (n) =>
    `${times(Math.min(n, 50), (at) => `query Q${at}($v: ID!) { ...F }`)} ${fragment('F', `instrumentsByIds(ids: [${times(n * 6, () => '$v')}]) { id }`)}`,
  arguments: (n) => inQuery(`session(${times(n, (at) => `a${at}: 1`)}) { login }`),
  'arguments, one again and again': (n) =>
    inQuery(`session(${times(n, () => 'maxAge: 1')}) { login }`),
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
  'fragments, chained the other way': (n) =>
    `${inQuery(`...F${n - 1}`)} ${fragments(n, (at) => (at > 0 ? `...F${at - 1}` : '__typename'))}`,
  'fragments, in a circle': (n) =>
    `${inQuery('...F0')} ${fragments(n, (at) => `...F${(at + 1) % n}`)}`,
  'fragments, doubled': (n) =>
    `${inQuery('...F0')} ${fragments(n, (at) => (at < n - 1 ? `...F${at + 1} ...F${at + 1}` : '__typename'))}`,
  'fragments, doubled in introspection': (n) =>
    `${inQuery('__schema { types { ...F0 } }')} ${times(n, (at) => `fragment F${at} on __Type { ${at < n - 1 ? `...F${at + 1} ...F${at + 1}` : 'name'} }`)}`,
  'fragments, spread by subscriptions': (n) =>
    `${times(Math.min(n, 50), (at) => `subscription Q${at} { ...F0 }`)} ${times(n, (at) => `fragment F${at} on Subscription { ${at < n - 1 ? `...F${at + 1}` : '__typename'} }`)}`,
  'fragments, one again and again': (n) =>
    `${inQuery(times(n, () => '...F'))} ${fragment('F', '__typename')}`,
  'fragments, in many places': (n) =>
    `${times(Math.ceil(n / 30), (at) => `query Q${at} { ${times(30, (of) => `a${of}: instrumentsByIds(ids: []) { ...F }`)} }`)} fragment F on Instrument { ${INSTRUMENT} }`,
  'fragments, doubled by a variable': (n) =>
    `query Q($v: Boolean!) { ...F0 @include(if: $v) } ${fragments(n, (at) => (at < n - 1 ? `...F${at + 1} ${at < 18 ? '@skip(if: $v)' : ''} ...F${at + 1}` : '__typename'))}`,
  'fragments that are not there': (n) => inQuery(times(n, (at) => `...F${at}`)),
  'inline fragments': (n) => inQuery(times(n, () => '... { __typename }')),
  'inline fragments, nested': (n) => inQuery(nested(n, '... {', '__typename', '}')),
  directives: (n) => inQuery(times(n, () => '__typename @include(if: true)')),
  'directives of one field': (n) => inQuery(`__typename ${times(n, () => '@include(if: true)')}`),
  'directives of the operation': (n) => `query Q ${times(n, (at) => `@d${at}`)} { __typename }`,
  'directives of a variable': (n) => withVariables(`$v: Int ${times(n, (at) => `@d${at}`)}`),
  'directives by a variable': (n) =>
    withVariables(
      '$v: Boolean!',
      times(n, () => '__typename @include(if: $v)'),
    ),
  lists: (n) => value(`[${times(n, () => '[]')}]`),
  'lists, nested': (n) => value(nested(n, '[', '', ']')),
  'lists of numbers': (n) => value(`[${times(n, () => '1')}]`),
  'lists of the wrong type': (n) =>
    inQuery(`session(maxAge: [${times(n, () => '"a"')}]) { login }`),
  objects: (n) => value(`[${times(n, () => '{}')}]`),
  'objects, nested': (n) => value(nested(n, '{ a:', '1', '}')),
  'objects, of many fields': (n) => value(`{ ${times(n, (at) => `a${at}: 1`)} }`),
  'objects, of unknown fields': (n) =>
    inQuery(`instruments(filter: { ${times(n, (at) => `a${at}: 1`)} }) { totalCount }`),
  'objects, of one field again and again': (n) =>
    inQuery(`instruments(filter: { ${times(n, () => 'search: "a"')} }) { totalCount }`),
  operations: (n) => times(n, (at) => `query Q${at} { __typename }`),
  'operations of one name': (n) => times(n, () => inQuery('__typename')),
  'operations without a name': (n) => times(n, () => '{ __typename }'),
  descriptions: (n) => times(n, (at) => `"d" fragment F${at} on Query { __typename }`),
  'descriptions of variables': (n) => withVariables(times(n, (at) => `"d" $v${at}: Int`)),
  'a description': (n) => `"""${'d\n'.repeat(n)}""" ${inQuery('__typename')}`,
  comments: (n) => `${'#\n'.repeat(n)} ${inQuery('__typename')}`,
  'a comment': (n) => `#${'c'.repeat(n)}\n${inQuery('__typename')}`,
  'lines before errors': (n) => `${'\n'.repeat(n)} ${inQuery(times(100, (at) => `f${at}`))}`,
  'lines before fields that fail': (n) =>
    `${'\n'.repeat(n)} ${inQuery(times(30, (at) => `a${at}: session(maxAge: -1) { login }`))}`,
  'lines between errors': (n) => inQuery(times(1_000, (at) => `f${at}${'\n'.repeat(n)}`)),
  strings: (n) => ids(times(n, (at) => `"${at}"`)),
  'strings, long': (n) => ids(times(1_000, () => `"${'a'.repeat(n)}"`)),
  'a string': (n) => ids(`"${'a'.repeat(n)}"`),
  'a string of escapes': (n) => ids(`"${'\\n'.repeat(n)}"`),
  'a string of lines': (n) => ids(`"""${' \n'.repeat(n)}"""`),
  'a string of the wrong type': (n) => inQuery(`session(maxAge: "${'1@'.repeat(n)}") { login }`),
  'strings of the wrong type': (n) =>
    inQuery(`session(maxAge: [${times(n, (at) => `"${at}${'1@'.repeat(20)}"`)}]) { login }`),
  'a name': (n) => inQuery('x'.repeat(n)),
  'a name of an operation': (n) => `query ${'x'.repeat(n)} { __typename }`,
  'a number': (n) => inQuery(`session(maxAge: ${'1'.repeat(n)}) { login }`),
  'a number of digits that are lost': (n) => value(`0.${'1'.repeat(n)}`),
  'text that is no language': (n) => '"'.repeat(n),
};

export const SHAPES: readonly Shape[] = Object.entries(WRITERS).map(([name, write]) => ({
  name,
  write,
}));

export interface Largest {
  readonly text: string;
  readonly count: number;
}

/** The largest document of a shape that fits in, or of those that fit the largest that `isAllowed`. */
export function largestOf(
  { write }: Shape,
  room: Room,
  isAllowed: (text: string) => boolean = () => true,
): Largest {
  const isFitting = (count: number) => fits(write(count), room) && isAllowed(write(count));
  let beyond = 2;
  while (isFitting(beyond)) beyond *= 2;
  let fitting = beyond / 2;
  while (beyond - fitting > 1) {
    const middle = Math.floor((fitting + beyond) / 2);
    if (isFitting(middle)) fitting = middle;
    else beyond = middle;
  }
  return { text: write(fitting), count: fitting };
}

function fits(text: string, { maxTokens, maxBytes }: Room): boolean {
  return (
    Buffer.byteLength(JSON.stringify({ query: text })) <= maxBytes &&
    tokensOf(text, maxTokens) <= maxTokens
  );
}

/** Counted up to one more than `most`. */
export function tokensOf(text: string, most: number): number {
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  try {
    while (tokens <= most && lexer.advance().kind !== TokenKind.EOF) tokens += 1;
  } catch {
    // What is no token ends the text.
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
