import { type GraphQLObjectType, getNamedType, isCompositeType, isObjectType } from 'graphql';
import { expect, test } from 'vitest';
import { READ_NAMES } from '../../src/gateway/operations.ts';
import { type Sharing, sharingOf } from '../../src/lib/field-traits.ts';
import { buildSchema } from '../../src/schema/schema.ts';
import { OPERATION_CASES } from '../operations/all.ts';

// List each new field without a mark below these roots here, so that a reviewer sees that the field
// belongs to the viewer, and that operations that select it are executed for each viewer.
const PERSONAL_BELOW_THE_CATALOG = ['Instrument.orders', 'Instrument.positions'];
const PERSONAL_BELOW_EVENTS = [
  'Instrument.orders',
  'Instrument.positions',
  'Session.orders',
  'Session.positions',
];

// All fields of the root except the catalog belong to the viewer.
const PERSONAL_ROOTS = [
  ...READ_NAMES.map((name) => OPERATION_CASES[name].field).filter((field) => field !== 'catalog'),
  ...['order', 'orders', 'placedOrder', 'position', 'positionTotals'],
].map((field) => `Query.${field}`);

const schema = buildSchema();

interface Reached {
  readonly personal: readonly string[];
  readonly marks: ReadonlySet<Sharing>;
}

/** Follows marked fields, and collects their marks and the unmarked fields that it meets. */
function reachedFrom(root: GraphQLObjectType): Reached {
  const types = new Set([root]);
  const personal: string[] = [];
  const marks = new Set<Sharing>();
  for (const type of types) {
    for (const field of Object.values(type.getFields())) {
      const sharing = sharingOf(field);
      if (sharing === null) {
        personal.push(`${type.name}.${field.name}`);
        continue;
      }
      marks.add(sharing);
      const inner = getNamedType(field.type);
      if (!isCompositeType(inner)) continue;
      const possible = isObjectType(inner) ? [inner] : schema.getPossibleTypes(inner);
      for (const each of possible) types.add(each);
    }
  }
  return { personal: personal.sort(), marks };
}

test('each field reachable from the catalog is marked as shared, or listed as personal', () => {
  const { personal, marks } = reachedFrom(schema.getQueryType() as GraphQLObjectType);
  expect(personal).toEqual([...PERSONAL_BELOW_THE_CATALOG, ...PERSONAL_ROOTS.sort()]);
  expect(marks).toEqual(new Set(['group', 'copy']));
});

test('each field reachable from a live event is marked as shared, or listed as personal', () => {
  const { personal, marks } = reachedFrom(schema.getSubscriptionType() as GraphQLObjectType);
  expect(personal).toEqual(PERSONAL_BELOW_EVENTS);
  expect(marks).toEqual(new Set(['account', 'group']));
});

test('an unknown mark counts as no mark', () => {
  expect(sharingOf({ extensions: {} })).toBeNull();
  expect(sharingOf({ extensions: { sharing: 'everybody' } })).toBeNull();
  expect(sharingOf({ extensions: { sharing: 'group' } })).toBe('group');
});
