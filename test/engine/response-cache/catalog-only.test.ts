import { type GraphQLSchema, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { createListSizes } from '../../../engine/cost/list-sizes.ts';
import { factsOf } from '../../../engine/documents/operation-facts.ts';
import { Selections } from '../../../engine/documents/selections.ts';
import { sharedUseOf } from '../../../engine/documents/sharing-marks.ts';
import { sharingOf } from '../../../engine/field-traits.ts';
import { buildSchema } from '../../../src/schema/schema.ts';
import { perGroup } from '../../../src/schema/sharing.ts';

const schema = buildSchema();

function useOf(text: string, of: GraphQLSchema = schema) {
  const document = parse(text);
  const operation = document.definitions.find(
    ({ kind }) => kind === Kind.OPERATION_DEFINITION,
  ) as OperationDefinitionNode;
  const { marks } = factsOf(new Selections(of, document), operation, createListSizes(of));
  return sharedUseOf(marks, document, operation);
}

describe('an operation reads the catalog alone', () => {
  test.each([
    '{ catalog { version } }',
    '{ a: instrument(id: "A") { id swap { long } } __typename }',
    'query Q($n: Int) { instruments(first: $n) { ...P } } fragment P on InstrumentConnection { nodes { id } }',
    '{ ... on Query { catalog { changes(since: "x") { upserted { id } removed } } } }',
  ])('%s', (text) => {
    expect(useOf(text)).toMatchObject({ selectsTime: false });
  });

  test.each([
    '{ catalog { ageSeconds } }',
    '{ catalog { ...F } } fragment F on Catalog { when: fetchedAt }',
    '{ catalog { expiresAt } }',
    '{ catalog { ... { stale } } instrument(id: "A") { id } }',
  ])('and its time: %s', (text) => {
    expect(useOf(text)).toMatchObject({ selectsTime: true });
  });
});

describe('an operation reads more than the catalog', () => {
  test.each([
    '{ catalog { version } customerId }',
    '{ catalog { version } ...F } fragment F on Query { session { id } }',
    '{ instrument(id: "A") { id positions { id } } }',
    '{ catalog { instruments { ...F } } } fragment F on Instrument { ... on Instrument { positions { id } } }',
    'query ($x: Boolean!) { catalog { version } ... @include(if: $x) { positions { id } } }',
    '{ __typename }',
    '{ __schema { queryType { name } } catalog { version } }',
    '{ catalog { version } ...F } fragment F on Query { ...G } fragment G on Query { positions { id } }',
    'mutation { forgotPassword(input: { email: "a" }) { __typename } }',
  ])('%s', (text) => {
    expect(useOf(text)).toBeNull();
  });
});

test('an event is shared by those of its account, unless variables or other fields affect it', () => {
  expect(useOf('subscription { positions { id } }')).toEqual({
    selectsTime: false,
    isBarred: false,
  });
  const other = 'subscription { positions { instrument { name } } }';
  const varied = 'subscription S($x: Boolean!) { positions { id @include(if: $x) } }';
  expect([useOf(other), useOf(varied)]).toEqual([null, null]);
});

test('a mutation is none of the catalog’s, whatever its field is marked as', () => {
  const marked = buildSchema();
  const fields = marked.getMutationType()?.getFields();
  Object.assign(fields?.forgotPassword ?? {}, perGroup);
  const text = 'mutation { forgotPassword(input: { email: "a" }) { __typename } }';
  expect(sharingOf(fields?.forgotPassword ?? { extensions: {} })).toBe('group');
  expect(useOf(text, marked)).toBeNull();
});
