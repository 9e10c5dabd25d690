import { describe, expect, test } from 'vitest';
import { compare } from '../../../src/check/gateway/compare.ts';
import { answerOf } from '../../../src/check/gateway/probe.ts';
import { pagingIn } from '../../../src/check/gateway/remedies.ts';
import { timeFindings } from '../../../src/check/gateway/times.ts';
import * as f from '../../../src/gateway/fields.ts';
import { READ_NAMES } from '../../../src/gateway/operations.ts';
import { isRow, readingIn, type TimeUnit } from '../../../src/gateway/wire/scalars.ts';
import { positionRow } from '../../gateway/wire/rows.ts';
import { OPERATION_CASES } from '../../operations/all.ts';

const NOW = Date.UTC(2026, 10, 20);
const ROW = f.table('Row', { id: f.numericId, marks: f.texts });

type Path = readonly (string | number)[];

// The reader compares it with the login that was asked for, whatever its type.
const COMPARED_OTHERWISE = 'login';

/** The paths of all properties in a body. */
function pathsIn(value: unknown, at: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => pathsIn(one, [...at, index]));
  if (!isRow(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => [
    [...at, name],
    ...pathsIn(one, [...at, name]),
  ]);
}

function withValue(body: unknown, path: Path, value: unknown): unknown {
  const copy = structuredClone(body);
  let place = copy as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) place = place[step] as Record<string | number, unknown>;
  const last = path.at(-1) ?? '';
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}

function nullsIn(value: unknown): number {
  return JSON.stringify(value).split('null').length;
}

/** How many values differ. */
function differencesIn(one: unknown, other: unknown): number {
  if (typeof one !== 'object' || one === null) return Number(one !== other);
  const entries = Object.entries(one);
  const names = new Map(Object.entries(other ?? {}));
  return entries.reduce((sum, [name, value]) => sum + differencesIn(value, names.get(name)), 0);
}

const DAMAGES: readonly unknown[] = [
  undefined,
  null,
  'x',
  7,
  true,
  { a: 1 },
  [1],
  1.5,
  '',
  '1.5',
  '7',
  '2025-01-01T00:00:00Z',
];

test('a next page is a problem, but of a read that is described with pages', () => {
  const paged = f.table('Page', { items: f.vital(f.wholeList(ROW)), next: f.unneeded(f.text) });
  const body = { items: [], next: '20' };
  const signs = [paged.shape, answerOf('getOpenPositions')].map((shape) =>
    pagingIn(shape, body, { headers: {} }),
  );
  expect(signs).toEqual([null, 'next']);
});

describe.each(READ_NAMES)('%s', (operation) => {
  const shape = answerOf(operation);
  const { answer: whole, read } = OPERATION_CASES[operation];

  test('a whole answer is as described, and every property of it is', () => {
    const { fields, unknown } = compare(shape, whole, NOW);
    expect(unknown).toEqual([]);
    expect(fields.filter(({ loss, isWrong }) => isWrong || loss !== 'nothing')).toEqual([]);
    expect(fields.filter(({ seen }) => Object.keys(seen).length === 0)).toEqual([]);
  });

  test('the times of the description are those that are read in the unit of times', async () => {
    const [inSeconds, inMs] = await Promise.all([read(whole, 's'), read(whole, 'ms')]);
    const described = Object.values(compare(shape, whole, NOW).times);
    expect(differencesIn(inSeconds, inMs)).toBe(described.reduce((sum, times) => sum + times, 0));
  });

  const paths = pathsIn(whole).filter((path) => path.join('.') !== COMPARED_OTHERWISE);
  test.each(paths.map((path) => [path.join('.'), path] as const))(
    'the description loses what the readers lose: %s',
    async (_, path) => {
      const intact = await read(whole, 'auto');
      for (const damage of DAMAGES) {
        const body = withValue(whole, path, damage);
        const losses = compare(shape, body, NOW).fields.map(({ loss }) => loss);
        const isRefused = losses.includes('answer') || losses.includes('row');
        const found = await read(body, 'auto');
        expect({ damage, isRefused }).toEqual({ damage, isRefused: found === null });
        // An instrument's fields are never lost by themselves: what it may lack is null anyway.
        if (operation === 'getAllTickers' || found === null) continue;
        const isLost = nullsIn(found) > nullsIn(intact);
        expect({ damage, isLost }).toEqual({ damage, isLost: losses.includes('value') });
      }
    },
  );
});

const MIXED = 'Some times are in seconds, others in milliseconds';

test.each<readonly [number[], TimeUnit, string | null, TimeUnit | null]>([
  [[NOW / 1_000, 946_684_800], 'auto', null, null],
  [[NOW * 1_000], 'auto', null, null],
  [[NOW / 1_000, 0], 's', null, null],
  [[NOW / 1_000], 'ms', 'problem: Times are in seconds, and ms reads them wrongly.', 's'],
  [[NOW * 1_000], 'ms', 'problem: Times are in microseconds, which only auto reads.', 'auto'],
  [[NOW / 1_000, NOW], 'auto', `warning: ${MIXED}: auto reads them all.`, null],
  [[NOW / 1_000, NOW], 's', `problem: ${MIXED}: only auto reads them all.`, 'auto'],
  [[NOW * 10, -1], 'auto', 'warning: Times are in no unit that can be recognized.', null],
  [[0], 'auto', expect.stringMatching(/^note: There was no time to tell the unit by/), null],
])('of the times %j under %s it is said what to set', (values, configured, said, unit) => {
  const positions = values.map((timeCreate) => ({ ...positionRow, timeCreate, timeUpdate: null }));
  const { times } = compare(answerOf('getOpenPositions'), { positions }, NOW);
  const found = timeFindings(times, configured);
  const texts = found.findings.map(({ level, text }) => `${level}: ${text}`);
  expect([texts, found.unit]).toEqual([said === null ? [] : [said], unit]);
});

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
])('the losses of %j are those that its table has: %j', (body, losses) => {
  const fields = compare(TABLE.shape, body, 0).fields.filter(({ loss }) => loss !== 'nothing');
  expect(Object.fromEntries(fields.map(({ path, loss }) => [path, loss]))).toEqual(losses);
  const isBroken = TABLE.read(body, readingIn('auto')) === null;
  expect(isBroken).toBe(Object.values(losses).includes('answer'));
});
