import { describe, expect, test } from 'vitest';
import { ANSWER_SHAPES } from '../../../check/gateway/answer-shapes.ts';
import { compare } from '../../../check/gateway/compare.ts';
import { READ_NAMES } from '../../../src/gateway/operations.ts';
import { isRow } from '../../../src/gateway/wire/scalars.ts';
import { positionRow } from '../../gateway/wire/rows.ts';
import { OPERATION_CASES } from '../../operations/all.ts';

const NOW = Date.UTC(2026, 10, 20);

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

const DAMAGES: readonly unknown[] = [undefined, null, 'x', 7, true, { a: 1 }, [1], 1.5, ''];

describe.each(READ_NAMES)('%s', (operation) => {
  const shape = ANSWER_SHAPES[operation];
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

describe('the unit of times', () => {
  const timesOf = (timeCreate: number) =>
    compare(
      ANSWER_SHAPES.getOpenPositions,
      { positions: [{ ...positionRow, timeCreate, timeUpdate: null }] },
      NOW,
    ).times;

  test.each([
    [NOW / 1_000, 's'],
    [946_684_800, 's'],
    [NOW, 'ms'],
    [NOW * 1_000, 'us'],
    [0, 'zero'],
    [NOW * 10, 'none'],
    [-1, 'none'],
  ])('%d counts as %s', (value, unit) => {
    expect(timesOf(value)).toMatchObject({ [unit]: 1 });
  });
});
