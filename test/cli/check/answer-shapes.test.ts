import { expect, test } from 'vitest';
import { compare } from '../../../src/check/comparison.ts';
import * as f from '../../../src/gateway/fields.ts';
import { firstCallOf } from '../../../src/gateway/operation-traits.ts';
import { OPERATIONS, READ_NAMES } from '../../../src/gateway/operations.ts';
import { readingIn, type TimeUnit } from '../../../src/gateway/scalars.ts';
import { OPERATION_CASES } from '../../operations/cases.ts';

test.each(READ_NAMES)('every property of a complete answer of %s is as described', (name) => {
  const { answer: shape } = firstCallOf(OPERATIONS[name]);
  const { fields, unknown } = compare(shape, [OPERATION_CASES[name].answer]);
  expect([...unknown]).toEqual([]);
  const differing = fields.filter(({ seen, expected }) => [...seen.keys()].join() !== expected);
  expect(differing).toEqual([]);
});

const NOW = Date.UTC(2026, 10, 20);

test.each<readonly [number | string, TimeUnit, boolean]>([
  [NOW / 1_000, 's', true],
  [NOW / 1_000, 'ms', false],
  [NOW, 's', false],
  [NOW * 1_000, 'ms', false],
  [NOW / 1_000, 'auto', true],
  [NOW, 'auto', true],
  [0, 's', true],
  ['2026-11-20T00:00:00Z', 's', true],
])('the time %s fits the unit %s: %s', (value, unit, fits) => {
  const [field] = compare({ kind: 'number', isTime: true }, [value], unit).fields;
  expect(field?.seen.has('time')).toBe(fits);
});

const ROW = f.table('Row', { id: f.numericId, tags: f.texts });
const TABLE = f.table('Table', {
  name: f.vital(f.text),
  note: f.text,
  rows: f.vital(f.wholeList(ROW)),
});
const whole = { name: 'a', note: 'b', rows: [{ id: 1, tags: ['x', 'y'] }] };

test.each([
  [whole, {}],
  [{ ...whole, note: 7 }, { note: 'value' }],
  [{ ...whole, name: undefined }, { name: 'answer' }],
  [{ ...whole, rows: {} }, { rows: 'answer' }],
  [{ ...whole, rows: [7] }, { 'rows[]': 'answer' }],
  [{ ...whole, rows: [{ id: 'x', tags: [] }] }, { 'rows[].id': 'value' }],
  [{ ...whole, rows: [{ id: 1, tags: 'x' }] }, { 'rows[].tags': 'value' }],
])(
  'the comparison of %j states for each fault whether a value or the whole answer is lost: %j',
  (body, expectedLosses) => {
    const { fields } = compare(TABLE.shape, [body]);
    const losses: Record<string, string> = {};
    for (const { path, expected, seen, missing, wrong } of fields) {
      const unexpected = [...seen.keys()].find((type) => type !== expected);
      if (unexpected !== undefined) losses[path] = unexpected === 'missing' ? missing : wrong;
    }
    expect(losses).toEqual(expectedLosses);
    const isBroken = TABLE.read(body, readingIn('auto')) === null;
    expect(isBroken).toBe(Object.values(expectedLosses).includes('answer'));
  },
);
