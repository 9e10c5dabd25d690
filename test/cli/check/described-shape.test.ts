import { expect, test } from 'vitest';
import { compare } from '../../../check/gateway/compare.ts';
import { shapeOf } from '../../../check/gateway/described-shape.ts';
import { described } from '../../../src/gateway/wire/described.ts';
import { digits, figure, flag, readingIn, text } from '../../../src/gateway/wire/scalars.ts';

const { description, map } = described(
  { name: text, note: text, rows: [{ id: digits, marks: [flag] }] },
  ({ name, note, rows }) => (name === null || rows === null ? null : { name, note, rows }),
);
const read = (body: unknown) => map(body, readingIn('auto'));
const whole = { name: 'a', note: 'b', rows: [{ id: 1, marks: [true, false] }] };

test.each([
  [whole, {}],
  [{ ...whole, note: 7 }, { note: 'value' }],
  [{ ...whole, name: undefined }, { name: 'answer' }],
  [{ ...whole, rows: {} }, { rows: 'answer' }],
  [{ ...whole, rows: [7] }, { 'rows[]': 'answer' }],
  [{ ...whole, rows: [{ id: 'x', marks: [] }] }, { 'rows[].id': 'value' }],
  [{ ...whole, rows: [{ id: 1, marks: 'x' }] }, { 'rows[].marks': 'value' }],
  [{ ...whole, rows: [{ id: 1, marks: [true, 'x'] }] }, { 'rows[].marks[]': 'value' }],
])('the losses of %j are those that its reader has: %j', (body, losses) => {
  const shape = shapeOf(description, (value) => read(value) !== null);
  const fields = compare(shape, body, 0).fields.filter(({ loss }) => loss !== 'nothing');
  expect(Object.fromEntries(fields.map(({ path, loss }) => [path, loss]))).toEqual(losses);
  expect(read(body) === null).toBe(Object.values(losses).includes('answer'));
});

test('a list or a row within a row is null where it is none', () => {
  expect(read(whole)).toEqual({ ...whole, rows: [{ id: '1', marks: [true, false] }] });
  expect(read({ ...whole, rows: [{ marks: [true, 'x'] }] })).toEqual({
    ...whole,
    rows: [{ id: null, marks: null }],
  });
});

test('a reader without a shape of its own is named', () => {
  const half = (value: unknown) => figure(value, readingIn('auto'));
  expect(() => shapeOf([half], () => true)).toThrow('no shape is known for the reader half');
});
