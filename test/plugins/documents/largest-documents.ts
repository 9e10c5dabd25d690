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
export const SHAPES: readonly Shape[] = [
  shape('fields', (count) => inQuery(times(count, (at) => `f${at}`))),
  shape('fields, one again and again', (count) => inQuery(times(count, () => '__typename'))),
  shape('fields, nested', (count) =>
    inQuery(nested(count, 'positions { instrument {', 'id', '} }')),
  ),
  shape('fields of an operation each', (count) => PLAIN.write(count)),
  shape(
    'fields of a subscription',
    (count) => `subscription Q { ${times(count, (at) => `f${at}`)} }`,
  ),
  shape('fields of introspection', (count) =>
    times(
      count,
      (at) => `query Q${at} { __schema { types { name fields { name type { name kind } } } } }`,
    ),
  ),
  shape('variables, unused', (count) => withVariables(times(count, (at) => `$v${at}: Int`))),
  shape('variables, used once', (count) =>
    withVariables(
      times(count, (at) => `$v${at}: ID!`),
      `instrumentsByIds(ids: [${times(count, (at) => `$v${at}`)}]) { id }`,
    ),
  ),
  shape('variables, of a default', (count) =>
    withVariables(times(count, (at) => `$v${at}: Int = 1`)),
  ),
  shape('variables, of a default that is refused', (count) =>
    withVariables(times(count, (at) => `$v${at}: Float = 0.10000000000000000001`)),
  ),
  shape('variables, of lists in lists', (count) =>
    withVariables(`$v: ${nested(count, '[', 'Int', ']')}`),
  ),
  shape('variables, undefined', (count) => ids(times(count, (at) => `$v${at}`))),
  shape('variables, one again and again', (count) =>
    withVariables('$v: ID!', `instrumentsByIds(ids: [${times(count, () => '$v')}]) { id }`),
  ),
  shape(
    'variables, used by each operation',
    (count) =>
      `${times(Math.min(count, 50), (at) => `query Q${at}($v: ID!) { ...F }`)} ${fragment('F', `instrumentsByIds(ids: [${times(count * 6, () => '$v')}]) { id }`)}`,
  ),
  shape('arguments', (count) => inQuery(`session(${times(count, (at) => `a${at}: 1`)}) { login }`)),
  shape('arguments, one again and again', (count) =>
    inQuery(`session(${times(count, () => 'maxAge: 1')}) { login }`),
  ),
  shape('arguments of repeated fields', (count) =>
    inQuery(
      times(
        100,
        () => `instruments(filter: { symbols: [${times(count, () => '"a"')}] }) { totalCount }`,
      ),
    ),
  ),
  shape('arguments of repeated fields, long', (count) =>
    inQuery(
      times(100, () => `instruments(filter: { search: "${'a'.repeat(count)}" }) { totalCount }`),
    ),
  ),
  shape('aliases', (count) => inQuery(times(count, (at) => `a${at}: __typename`))),
  shape(
    'fragments, unused',
    (count) => `${inQuery('__typename')} ${fragments(count, () => '__typename')}`,
  ),
  shape(
    'fragments, spread',
    (count) =>
      `${inQuery(times(count, (at) => `...F${at}`))} ${fragments(count, () => '__typename')}`,
  ),
  shape(
    'fragments, spread by each operation',
    (count) =>
      `${times(20, (at) => `query Q${at} { ${times(count, (of) => `...F${of}`)} }`)} ${fragments(count, () => '__typename')}`,
  ),
  shape(
    'fragments, chained',
    (count) =>
      `${inQuery('...F0')} ${fragments(count, (at) => (at < count - 1 ? `...F${at + 1}` : '__typename'))}`,
  ),
  shape(
    'fragments, chained the other way',
    (count) =>
      `${inQuery(`...F${count - 1}`)} ${fragments(count, (at) => (at > 0 ? `...F${at - 1}` : '__typename'))}`,
  ),
  shape(
    'fragments, in a circle',
    (count) => `${inQuery('...F0')} ${fragments(count, (at) => `...F${(at + 1) % count}`)}`,
  ),
  shape(
    'fragments, doubled',
    (count) =>
      `${inQuery('...F0')} ${fragments(count, (at) => (at < count - 1 ? `...F${at + 1} ...F${at + 1}` : '__typename'))}`,
  ),
  shape(
    'fragments, doubled in introspection',
    (count) =>
      `${inQuery('__schema { types { ...F0 } }')} ${times(count, (at) => `fragment F${at} on __Type { ${at < count - 1 ? `...F${at + 1} ...F${at + 1}` : 'name'} }`)}`,
  ),
  shape(
    'fragments, spread by subscriptions',
    (count) =>
      `${times(Math.min(count, 50), (at) => `subscription Q${at} { ...F0 }`)} ${times(count, (at) => `fragment F${at} on Subscription { ${at < count - 1 ? `...F${at + 1}` : '__typename'} }`)}`,
  ),
  shape(
    'fragments, one again and again',
    (count) => `${inQuery(times(count, () => '...F'))} ${fragment('F', '__typename')}`,
  ),
  shape(
    'fragments, in many places',
    (count) =>
      `${times(Math.ceil(count / 30), (at) => `query Q${at} { ${times(30, (of) => `a${of}: instrumentsByIds(ids: []) { ...F }`)} }`)} fragment F on Instrument { ${INSTRUMENT} }`,
  ),
  shape(
    'fragments, doubled by a variable',
    (count) =>
      `query Q($v: Boolean!) { ...F0 @include(if: $v) } ${fragments(count, (at) => (at < count - 1 ? `...F${at + 1} ${at < 18 ? '@skip(if: $v)' : ''} ...F${at + 1}` : '__typename'))}`,
  ),
  shape('fragments that are not there', (count) => inQuery(times(count, (at) => `...F${at}`))),
  shape('inline fragments', (count) => inQuery(times(count, () => '... { __typename }'))),
  shape('inline fragments, nested', (count) => inQuery(nested(count, '... {', '__typename', '}'))),
  shape('directives', (count) => inQuery(times(count, () => '__typename @include(if: true)'))),
  shape('directives of one field', (count) =>
    inQuery(`__typename ${times(count, () => '@include(if: true)')}`),
  ),
  shape(
    'directives of the operation',
    (count) => `query Q ${times(count, (at) => `@d${at}`)} { __typename }`,
  ),
  shape('directives of a variable', (count) =>
    withVariables(`$v: Int ${times(count, (at) => `@d${at}`)}`),
  ),
  shape('directives by a variable', (count) =>
    withVariables(
      '$v: Boolean!',
      times(count, () => '__typename @include(if: $v)'),
    ),
  ),
  shape('lists', (count) => value(`[${times(count, () => '[]')}]`)),
  shape('lists, nested', (count) => value(nested(count, '[', '', ']'))),
  shape('lists of numbers', (count) => value(`[${times(count, () => '1')}]`)),
  shape('lists of the wrong type', (count) =>
    inQuery(`session(maxAge: [${times(count, () => '"a"')}]) { login }`),
  ),
  shape('objects', (count) => value(`[${times(count, () => '{}')}]`)),
  shape('objects, nested', (count) => value(nested(count, '{ a:', '1', '}'))),
  shape('objects, of many fields', (count) => value(`{ ${times(count, (at) => `a${at}: 1`)} }`)),
  shape('objects, of unknown fields', (count) =>
    inQuery(`instruments(filter: { ${times(count, (at) => `a${at}: 1`)} }) { totalCount }`),
  ),
  shape('objects, of one field again and again', (count) =>
    inQuery(`instruments(filter: { ${times(count, () => 'search: "a"')} }) { totalCount }`),
  ),
  shape('operations', (count) => times(count, (at) => `query Q${at} { __typename }`)),
  shape('operations of one name', (count) => times(count, () => inQuery('__typename'))),
  shape('operations without a name', (count) => times(count, () => '{ __typename }')),
  shape('descriptions', (count) =>
    times(count, (at) => `"d" fragment F${at} on Query { __typename }`),
  ),
  shape('descriptions of variables', (count) =>
    withVariables(times(count, (at) => `"d" $v${at}: Int`)),
  ),
  shape('a description', (count) => `"""${'d\n'.repeat(count)}""" ${inQuery('__typename')}`),
  shape('comments', (count) => `${'#\n'.repeat(count)} ${inQuery('__typename')}`),
  shape('a comment', (count) => `#${'c'.repeat(count)}\n${inQuery('__typename')}`),
  shape(
    'lines before errors',
    (count) => `${'\n'.repeat(count)} ${inQuery(times(100, (at) => `f${at}`))}`,
  ),
  shape(
    'lines before fields that fail',
    (count) =>
      `${'\n'.repeat(count)} ${inQuery(times(30, (at) => `a${at}: session(maxAge: -1) { login }`))}`,
  ),
  shape('lines between errors', (count) =>
    inQuery(times(1_000, (at) => `f${at}${'\n'.repeat(count)}`)),
  ),
  shape('strings', (count) => ids(times(count, (at) => `"${at}"`))),
  shape('strings, long', (count) => ids(times(1_000, () => `"${'a'.repeat(count)}"`))),
  shape('a string', (count) => ids(`"${'a'.repeat(count)}"`)),
  shape('a string of escapes', (count) => ids(`"${'\\n'.repeat(count)}"`)),
  shape('a string of lines', (count) => ids(`"""${' \n'.repeat(count)}"""`)),
  shape('a string of the wrong type', (count) =>
    inQuery(`session(maxAge: "${'1@'.repeat(count)}") { login }`),
  ),
  shape('strings of the wrong type', (count) =>
    inQuery(`session(maxAge: [${times(count, (at) => `"${at}${'1@'.repeat(20)}"`)}]) { login }`),
  ),
  shape('a name', (count) => inQuery('x'.repeat(count))),
  shape('a name of an operation', (count) => `query ${'x'.repeat(count)} { __typename }`),
  shape('a number', (count) => inQuery(`session(maxAge: ${'1'.repeat(count)}) { login }`)),
  shape('a number of digits that are lost', (count) => value(`0.${'1'.repeat(count)}`)),
  shape('text that is no language', (count) => '"'.repeat(count)),
];

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

function shape(name: string, write: Shape['write']): Shape {
  return { name, write };
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
