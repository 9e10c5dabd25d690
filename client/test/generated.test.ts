import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type GraphQLObjectType, getNamedType, isLeafType } from 'graphql';
import { expect, test } from 'vitest';
import { generatedFiles } from '../../scripts/client-generated.ts';
import { buildSchema } from '../../src/schema/schema.ts';
import { INSTRUMENT_FIELDS, ORDER_FIELDS, POSITION_FIELDS } from '../src/generated/rows.ts';

test("what the package has from the server is what the server's code says", async () => {
  for (const [path, text] of await generatedFiles()) {
    expect(readFileSync(join(import.meta.dirname, '..', path), 'utf8'), path).toBe(text);
  }
});

test.each([
  ['Position', POSITION_FIELDS.split(' ')],
  ['Order', ORDER_FIELDS.split(' ')],
  ['Instrument', INSTRUMENT_FIELDS],
])('a whole %s is every field of it that is no object', (name, selected) => {
  const fields = Object.values((buildSchema().getType(name) as GraphQLObjectType).getFields());
  const plain = fields.filter(({ type }) => isLeafType(getNamedType(type)));
  expect([...selected].toSorted()).toEqual(plain.map((field) => field.name).toSorted());
});
