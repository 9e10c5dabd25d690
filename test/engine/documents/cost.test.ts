import {
  type GraphQLObjectType,
  getIntrospectionQuery,
  getNamedType,
  isLeafType,
  parse,
  validateExecutionArgs,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { catalogSize } from '../../../src/schema/builder.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { factsIn, schemaOf } from '../schema-of.ts';

const schema = buildSchema();
/** The number of instruments in the catalog. */
const CATALOG = 700;
/** Eight scanned instruments cost as much as one field. */
const SCAN_COST = Math.floor(CATALOG / 8);

function cost(text: string, variables: Record<string, unknown> = {}, catalog = CATALOG): number {
  const args = validateExecutionArgs({ schema, document: parse(text), variableValues: variables });
  if (!('schema' in args)) throw args[0];
  const { facts } = factsIn(schema, text);
  return facts.for(args.variableValues.coerced, () => catalogSize({ largestSize: catalog })).cost;
}

// In the sums below 50 is the assumed size of a list, and the default size of a page. A page has at most 500 rows.
describe('the cost of a document is the number of fields that its answer can have:', () => {
  test.each([
    ['{ __typename }', 1],
    ['{ session { balance equity access { name } } }', 5],
    ['{ orders { id } withdrawalMethods { id title } customerId }', 1 + 50 + 1 + 50 * 2 + 1],
    ['{ positions { instrument { name } } }', 1 + 50 * 2],
    ['{ instrument(id: "A") { tradingHours { regular } quotes } }', 4],
    ['{ instruments { nodes { id } } }', 1 + 1 + 50],
    ['{ instrumentsByIds(ids: ["A", "B", "C"]) { id name } }', 1 + 3 * 2],
    ['{ instrumentsByIds(ids: "A") { id } }', 2],
    ['{ instrumentsByIds(ids: []) { id } }', 1],
    [`{ instrumentsByIds(ids: [${'"A" '.repeat(600)}]) { id } }`, 1 + 500],
    ['{ instruments(last: 7) { edges { cursor node { id name } } } }', 1 + 1 + 7 * 4],
    ['{ instruments(first: 0) { nodes { id } totalCount } }', 3],
    ['{ instruments(first: null) { nodes { id } } }', 1 + 1 + 50],
    ['{ instruments(first: 3) { nodes { id } edges { cursor } } }', 1 + 1 + 3 + 1 + 3],
    ['{ instruments(first: 10) { nodes { positions { id } } } }', 1 + 1 + 10 * (1 + 5)],
    ['{ instruments(filter: { search: "a" }) { totalCount } }', 2 + SCAN_COST],
    ['{ instruments(filter: null) { totalCount } }', 2],
    ['{ catalog { size instruments { id name } } }', 1 + 1 + 1 + CATALOG * 2],
    ['{ catalog { changes(since: "") { upserted { id } removed } } }', 1 + 1 + 1 + CATALOG + 1],
    ['subscription { positionChanges { upserted { id } totals { count } } }', 1 + 1 + 50 + 2],
  ])('%s', (text, expected) => {
    expect(cost(text)).toBe(expected);
  });

  test('a thousand positions, and a page of 500 instruments, fit with all fields', () => {
    const fieldsOf = (name: string) =>
      Object.values((schema.getType(name) as GraphQLObjectType).getFields())
        .filter(({ type }) => isLeafType(getNamedType(type)))
        .map((field) => field.name)
        .join(' ');
    const instrument = fieldsOf('Instrument');
    const page = `{ instruments(first: 500) { nodes { ${instrument} positions { id symbol profit } orders { id } } } }`;
    expect(cost(page)).toBeLessThan(65_000);
    const rows = `{ positions { ${fieldsOf('Position')} instrument { ${instrument} } } }`;
    const { itemFields } = factsIn(schema, rows).facts.for({}, () => 0);
    expect(Math.max(...itemFields.values()) * 1_000).toBeLessThan(65_000);
  });

  test('an uncached catalog counts with a typical size, and introspection costs less than the limit', () => {
    expect(cost('{ catalog { instruments { id } } }', {}, 0)).toBe(1 + 1 + 1_000);
    expect(cost(getIntrospectionQuery())).toBeLessThan(65_000);
  });
});

describe('the cost depends on the variables', () => {
  const watchList = 'query ($ids: [ID!]!) { instrumentsByIds(ids: $ids) { id } }';
  const watchListOfTwo = 'query ($ids: [ID!]! = ["A", "B"]) { instrumentsByIds(ids: $ids) { id } }';
  const page = 'query ($n: Int) { instruments(first: $n) { nodes { id } } }';
  const search =
    'query ($filter: InstrumentFilter) { instruments(filter: $filter) { totalCount } }';
  const withDefault = 'query ($n: Int = 9) { instruments(first: $n) { nodes { id } } }';

  test.each([
    [page, {}, 2 + 50],
    [search, { filter: { search: 'a' } }, 2 + SCAN_COST],
    [search, { filter: null }, 2],
    [search, {}, 2],
    [page, { n: null }, 2 + 50],
    [page, { n: 5 }, 2 + 5],
    [page, { n: 100_000 }, 2 + 500],
    [withDefault, {}, 2 + 9],
    [withDefault, { n: 3 }, 2 + 3],
    // An inherited property is no variable.
    [withDefault, Object.create({ n: 400 }), 2 + 9],
    [watchList, { ids: ['A', 'B', 'C'] }, 1 + 3],
    [watchList, { ids: 'A' }, 1 + 1],
    [watchList, { ids: new Array(9_000).fill('A') }, 1 + 500],
    [watchListOfTwo, {}, 1 + 2],
    [watchListOfTwo, { ids: [] }, 1],
  ])('%s %#', (text, variables, expected) => {
    expect(cost(text, variables)).toBe(expected);
  });

  const conditional = `query ($on: Boolean!, $off: Boolean = true) {
    positions @include(if: $on) { id }
    positions @skip(if: $off) { symbol }
    orders @skip(if: $off) { id symbol }
    ... @include(if: $on) { customerId }
    ...Rest @skip(if: $on)
  } fragment Rest on Query { session { balance } }`;

  // A list with one field costs 51, with two fields 101. `customerId` costs 1, and `Rest` 2.
  test.each([
    [{ on: true }, 51 + 1],
    [{ on: false }, 2],
    [{ on: false, off: false }, 51 + 101 + 2],
    [{ on: true, off: false }, 101 + 101 + 1],
  ])(
    'a field counts if a condition includes it, and once if it is selected twice: %j',
    (given, expected) => {
      expect(cost(conditional, given)).toBe(expected);
    },
  );

  test('conditions with constant values count as well', () => {
    expect(cost('{ __typename positions @include(if: false) { id } }')).toBe(1);
    expect(cost('{ __typename positions @skip(if: false) { id } }')).toBe(52);
    expect(cost('{ __typename positions @include(if: true) @skip(if: true) { id } }')).toBe(1);
  });
});

test('the fields of all members of a union count, and once if members share a response key', () => {
  const text = `{ placedOrder(idempotencyKey: "k") {
    __typename
    ... on OrderOutcome { message }
    ... on OrderRejected { error }
    ... on OrderAccepted { orderId positions { id } }
    ... on OrderOutcomeUnknown { positions { id } }
  } }`;
  // `placedOrder`, four leaves, and one list of positions.
  expect(cost(text)).toBe(1 + 4 + 51);
});

describe('the plan of a document contains the reads of its fields:', () => {
  const on = 'query Q($on: Boolean = true)';
  const session = 'session { positions { id } }';
  const fragments = 'fragment F on Query { ...G } fragment G on Query { a: orders { id } }';
  test.each<[text: string, reads: string[], readsIfOff?: string[]]>([
    ['{ __typename catalog { size } }', []],
    ['{ orders { id } order(id: "1") { id } positionTotals { count } }', ['orders', 'positions']],
    [`{ ${session} customerId }`, ['getCustomerId', 'rows', 'session']],
    [
      `${on} { ...F @include(if: $on) positions { id } } ${fragments}`,
      ['orders', 'positions'],
      ['positions'],
    ],
    [
      `${on} { ${session.replace('positions', 'positions @include(if: $on)')} }`,
      ['rows', 'session'],
      ['session'],
    ],
    [`${on} { a: orders @include(if: $on) { id } b: orders @skip(if: $on) { id } }`, ['orders']],
    // Reads below a single object are planned. Reads below a list are not, because the list may be empty.
    ['{ instrument(id: "A") { positions { id } orders { id } } }', ['orders', 'positions']],
    ['{ instruments { nodes { positions { id } } } orders { id } }', ['orders']],
    ['{ positions { instrument { orders { id } } } }', ['positions']],
    // Selections on an order's outcome are read only after that order.
    [
      '{ placedOrder(idempotencyKey: "k") { ... on OrderAccepted { orders { id } } } positions { id } }',
      ['positions'],
    ],
    ['subscription { accountChanges { positions { opened } orders { closed } } }', ['snapshots']],
    ['subscription { accountChanges { positions { opened } status } }', []],
  ])('%s', (text, reads, readsIfOff = reads) => {
    const plannedReads = (on: boolean) => {
      const { plans } = factsIn(schema, text).facts.for({ on }, () => 0);
      return [...(plans.get('') ?? [])].sort();
    };
    expect(plannedReads(true)).toEqual(reads);
    expect(plannedReads(false)).toEqual(readsIfOff);
  });

  test('a fragment outside of lists is planned, even if the same fragment is used below a list first', () => {
    const boxes = schemaOf(
      `interface Node { rows: Int } type A implements Node { rows: Int } type Box { node: Node }
      type Query { boxes: [Box] box: Box }`,
      { 'A.rows': { extensions: { reads: 'rows' } } },
    );
    const text = '{ boxes { ...F } box { ...F } } fragment F on Box { node { rows } }';
    const { plans } = factsIn(boxes, text).facts.for({}, () => 0);
    expect(plans.get('')).toEqual(new Set(['rows']));
  });

  test('a mutation has one plan per field', () => {
    const { facts } = factsIn(
      schema,
      `mutation {
      a: placeOrder(input: {}) { ... on OrderAccepted { orders { id } } ... on OrderRejected { error } }
      b: placeOrder(input: {}) { ... on OrderOutcomeUnknown { positions { id } session { login } } }
      setValue(input: { key: "k" }) { __typename }
    }`,
    );
    const { plans } = facts.for({}, () => 0);
    const reads = [...plans].map(([key, plan]) => [key, [...plan]]);
    expect(reads).toEqual([
      ['a', ['orders']],
      ['b', ['positions', 'session']],
      ['setValue', []],
    ]);
  });
});
