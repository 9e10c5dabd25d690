import { buildSchema, parse } from 'graphql';
import { expect, test } from 'vitest';
import {
  inexactLiteralError,
  nullMemberLiteralError,
} from '../../../src/plugins/documents/refused-literals.ts';

const schema = buildSchema(`
  type Query { a(one: One, any: Any, id: ID): Int }
  input One @oneOf { x: Int, y: Int }
  input Any { x: Float }
`);

test.each([
  ['{ a(one: { x: null }) }', 'one.x'],
  ['query ($one: One = { y: null }) { a(one: $one) }', 'one.y'],
  ['{ a(any: { x: null }) }', undefined],
  ['{ a(any: null) }', undefined],
  ['{ a(one: { x: 1 }) }', undefined],
])('a null is refused as the one member of an input alone: %s', (text, argument) => {
  expect(nullMemberLiteralError(schema, parse(text))?.extensions.argument).toBe(argument);
});

test.each([
  ['{ a(any: { x: 9007199254740993 }) }', 'any.x'],
  ['{ a(any: { x: 9007199254740992 }) }', undefined],
  ['{ a(id: 9007199254740993) }', undefined],
])('a number that a double does not hold is refused but as an id: %s', (text, argument) => {
  expect(inexactLiteralError(schema, parse(text))?.extensions.argument).toBe(argument);
});
