import { expect, test } from 'vitest';
import { compare } from '../../../src/check/gateway/compare.ts';
import { isWrongUnit } from '../../../src/check/gateway/comparison-findings.ts';
import * as f from '../../../src/gateway/fields.ts';
import { firstCallOf } from '../../../src/gateway/operation.ts';
import { OPERATIONS, READ_NAMES } from '../../../src/gateway/operations.ts';
import { readingIn, type TimeUnit } from '../../../src/gateway/scalars.ts';
import { OPERATION_CASES } from '../../operations/all.ts';

/** The number of fields with a time in the answers of the operations. */
const TIME_FIELDS: Readonly<Record<string, number>> = { getSession: 5, getOpenPositions: 2 };

test.each(READ_NAMES)('every property of a complete answer of %s is as described', (name) => {
  const { answer: shape } = firstCallOf(OPERATIONS[name]);
  const { fields, unknown, times } = compare(shape, [OPERATION_CASES[name].answer]);
  expect(unknown).toEqual([]);
  expect(fields.filter(({ seen, expected }) => Object.keys(seen).join() !== expected)).toEqual([]);
  expect(times).toHaveLength(TIME_FIELDS[name] ?? 0);
});

const NOW = Date.UTC(2026, 10, 20);

test.each<readonly [number[], TimeUnit, boolean]>([
  [[NOW / 1_000, 946_684_800], 's', false],
  [[NOW / 1_000], 'ms', true],
  [[NOW], 's', true],
  [[NOW * 1_000], 'ms', true],
  [[NOW / 1_000, NOW], 's', true],
  [[NOW / 1_000, NOW, NOW * 1_000], 'auto', false],
])('for the times %j the unit %s is wrong: %s', (times, unit, isWrong) => {
  expect(isWrongUnit(times, unit, NOW)).toBe(isWrong);
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
      const unexpected = Object.keys(seen).find((type) => type !== expected);
      if (unexpected !== undefined) losses[path] = unexpected === 'missing' ? missing : wrong;
    }
    expect(losses).toEqual(expectedLosses);
    const isBroken = TABLE.read(body, readingIn('auto')) === null;
    expect(isBroken).toBe(Object.values(expectedLosses).includes('answer'));
  },
);
