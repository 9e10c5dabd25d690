import { expect, test } from 'vitest';
import { compare } from '../../../src/check/gateway/compare.ts';
import { isWrongUnit } from '../../../src/check/gateway/comparison-findings.ts';
import * as f from '../../../src/gateway/fields.ts';
import { firstCallOf } from '../../../src/gateway/operation.ts';
import { OPERATIONS, READ_NAMES } from '../../../src/gateway/operations.ts';
import { readingIn, type TimeUnit } from '../../../src/gateway/wire/scalars.ts';
import { OPERATION_CASES } from '../../operations/all.ts';

test.each(READ_NAMES)('every property of a complete answer of %s is as described', (name) => {
  const { answer: shape } = firstCallOf(OPERATIONS[name]);
  const { fields, unknown, times } = compare(shape, [OPERATION_CASES[name].answer]);
  expect(unknown).toEqual([]);
  expect(fields.filter(({ seen, expected }) => Object.keys(seen).join() !== expected)).toEqual([]);
  expect(times).toHaveLength(TIMES[name] ?? 0);
});

const TIMES: Readonly<Record<string, number>> = { getSession: 5, getOpenPositions: 2 };

const NOW = Date.UTC(2026, 10, 20);

test.each<readonly [number[], TimeUnit, boolean]>([
  [[NOW / 1_000, 946_684_800], 's', false],
  [[NOW / 1_000], 'ms', true],
  [[NOW], 's', true],
  [[NOW * 1_000], 'ms', true],
  [[NOW / 1_000, NOW], 's', true],
  [[NOW / 1_000, NOW, NOW * 1_000], 'auto', false],
])('the times %j are read wrongly in %s: %s', (times, unit, isWrong) => {
  expect(isWrongUnit(times, unit, NOW)).toBe(isWrong);
});

const ROW = f.table('Row', { id: f.numericId, marks: f.texts });
const TABLE = f.table('Table', {
  name: f.vital(f.text),
  note: f.text,
  rows: f.vital(f.wholeList(ROW)),
});
const whole = { name: 'a', note: 'b', rows: [{ id: 1, marks: ['x', 'y'] }] };

test.each([
  [whole, {}],
  [{ ...whole, note: 7 }, { note: 'value' }],
  [{ ...whole, name: undefined }, { name: 'answer' }],
  [{ ...whole, rows: {} }, { rows: 'answer' }],
  [{ ...whole, rows: [7] }, { 'rows[]': 'answer' }],
  [{ ...whole, rows: [{ id: 'x', marks: [] }] }, { 'rows[].id': 'value' }],
  [{ ...whole, rows: [{ id: 1, marks: 'x' }] }, { 'rows[].marks': 'value' }],
])(
  'the comparison of %j says whether each fault costs a value or the whole answer: %j',
  (body, losses) => {
    const { fields } = compare(TABLE.shape, [body]);
    const lossesFound = fields.flatMap(({ path, expected, seen, missing, wrong }) => {
      const [unexpected] = Object.keys(seen).filter((type) => type !== expected);
      return unexpected === undefined ? [] : [[path, unexpected === 'missing' ? missing : wrong]];
    });
    expect(Object.fromEntries(lossesFound)).toEqual(losses);
    const isBroken = TABLE.read(body, readingIn('auto')) === null;
    expect(isBroken).toBe(Object.values(losses).includes('answer'));
  },
);
