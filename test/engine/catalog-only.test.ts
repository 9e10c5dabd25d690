import {
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { catalogUseOf } from '../../src/engine/catalog/catalog-only.ts';
import { buildSchema } from '../../src/schema/schema.ts';

function useOf(text: string) {
  const document = parse(text);
  const operation = document.definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return catalogUseOf(document, operation as OperationDefinitionNode);
}

describe('an operation reads the catalog alone', () => {
  test.each([
    '{ catalog { version } }',
    '{ a: instrument(id: "A") { id swap { long } } __typename }',
    'query Q($n: Int) { instruments(first: $n) { ...P } } fragment P on InstrumentConnection { nodes { id } }',
    '{ ... on Query { catalog { changes(since: "x") { upserted { id } removed } } } }',
  ])('%s', (text) => {
    expect(useOf(text)).toEqual({ selectsTime: false });
  });

  test.each([
    '{ catalog { ageSeconds } }',
    '{ catalog { ...F } } fragment F on Catalog { when: fetchedAt }',
    '{ catalog { ... { stale } } instrument(id: "A") { id } }',
  ])('and its time: %s', (text) => {
    expect(useOf(text)).toEqual({ selectsTime: true });
  });
});

describe('an operation reads more than the catalog', () => {
  test.each([
    '{ customerId }',
    '{ catalog { version } customerId }',
    '{ catalog { version } ...F } fragment F on Query { session { id } }',
    '{ instrument(id: "A") { id positions { id } } }',
    '{ instruments { nodes { o: orders { id } } } }',
    '{ catalog { instruments { ...F } } } fragment F on Instrument { ... on Instrument { positions { id } } }',
    '{ catalog { changes(since: "x") { upserted { ...F } } } } fragment F on Instrument { orders { id } }',
    '{ catalog { version } ... @include(if: false) { positions { id } } }',
    '{ __typename }',
    '{ __schema { queryType { name } } catalog { version } }',
    'mutation { forgotPassword(input: { email: "a" }) { __typename } }',
    'subscription { positions { id } }',
  ])('%s', (text) => {
    expect(useOf(text)).toBeNull();
  });
});

test('nothing of a user’s can be reached from the catalog but by the fields that are known to', () => {
  const known = new Set(['positions', 'orders']);
  const reached = new Set<string>();
  const pending = ['Catalog', 'Instrument', 'InstrumentConnection'];
  const schema = buildSchema();
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    const type = schema.getType(name);
    if (!isObjectType(type)) throw new Error(`${name} is something new`);
    for (const field of Object.values(type.getFields())) {
      const inner = getNamedType(field.type);
      if (isCompositeType(inner) && !known.has(field.name)) pending.push(inner.name);
    }
  }
  expect([...reached].sort()).toEqual([
    'Catalog',
    'CatalogChanges',
    'Instrument',
    'InstrumentConnection',
    'InstrumentEdge',
    'PageInfo',
    'Swap',
    'TradingHours',
  ]);
});
