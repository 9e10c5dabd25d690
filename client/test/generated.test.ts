import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { expect, test } from 'vitest';
import { buildSchema } from '../../src/schema/schema.ts';
import { INSTRUMENT_FIELDS, ORDER_FIELDS, POSITION_FIELDS } from '../src/generated/rows.ts';

test.each([
  ['Position', POSITION_FIELDS.split(' ')],
  ['Order', ORDER_FIELDS.split(' ')],
  ['Instrument', INSTRUMENT_FIELDS],
])('a whole %s is every field of it that is no object', (name, selected) => {
  const fields = Object.values((buildSchema().getType(name) as GraphQLObjectType).getFields());
  const plain = fields.filter(({ type }) => isLeafType(getNamedType(type)));
  expect([...selected].toSorted()).toEqual(plain.map((field) => field.name).toSorted());
});
