import { describe, expect, test } from 'vitest';
import { ANSWER_SHAPES } from '../../../check/gateway/answer-shapes.ts';
import { compare } from '../../../check/gateway/compare.ts';
import type { ReadName } from '../../../src/gateway/operations.ts';
import { toPositions } from '../../../src/gateway/wire/holding.ts';
import { toInstruments } from '../../../src/gateway/wire/instrument.ts';
import { customerIdRead, withdrawalMethodsRead } from '../../../src/gateway/wire/payments.ts';
import { isRow, readingIn } from '../../../src/gateway/wire/scalars.ts';
import { toSession } from '../../../src/gateway/wire/session.ts';
import { instrumentRow, positionRow, sessionRow } from '../../gateway/wire/rows.ts';

const NOW = Date.UTC(2026, 10, 20);

const method = {
  ...{ id: 1, title: 'Bank', icon: 'bank', type: 'bank' },
  ...{ crmType: 'bank', status: 'APPROVED', subtitle: '…' },
};

const WHOLE: Readonly<Record<ReadName, unknown>> = {
  getAllTickers: [
    {
      ...instrumentRow,
      tradingHours: { ...instrumentRow.tradingHours, overnight: ['20:00-04:00'] },
    },
  ],
  getSession: sessionRow,
  getOpenPositions: { positions: [positionRow] },
  getWithdrawalMethods: [[method]],
  getCustomerId: { customerId: 'c-1' },
};

/** The gateway's readers by operation: each returns everything that it keeps of a body, or null. */
const READERS: Readonly<Record<ReadName, (body: unknown) => Promise<unknown> | unknown>> = {
  async getAllTickers(body) {
    const { instruments } = await toInstruments(body as unknown[]);
    return instruments.length === 0 ? null : instruments;
  },
  getSession: (body) => toSession(body, '700001', readingIn('auto')),
  getOpenPositions: (body) => (isRow(body) ? toPositions(body.positions, readingIn('auto')) : null),
  getWithdrawalMethods: (body) => withdrawalMethodsRead.map(body, readingIn('auto')),
  getCustomerId: (body) => customerIdRead.map(body, readingIn('auto')),
};

const OPERATIONS = Object.keys(WHOLE) as ReadName[];

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

const DAMAGES: readonly unknown[] = [undefined, null, 'x', 7, true, { a: 1 }, [1], 1.5, ''];

test.each(OPERATIONS)(
  '%s: a whole answer is as described, and every property of it is',
  (operation) => {
    const { fields, unknown } = compare(ANSWER_SHAPES[operation], WHOLE[operation], NOW);
    expect(unknown).toEqual([]);
    expect(fields.filter(({ loss, isWrong }) => isWrong || loss !== 'nothing')).toEqual([]);
    expect(fields.filter(({ seen }) => Object.keys(seen).length === 0)).toEqual([]);
  },
);

describe.each(OPERATIONS)('%s: the description loses what the readers lose', (operation) => {
  const whole = WHOLE[operation];
  const paths = pathsIn(whole).filter((path) => path.join('.') !== COMPARED_OTHERWISE);
  test.each(paths.map((path) => [path.join('.'), path] as const))('%s', async (_, path) => {
    const intact = await READERS[operation](whole);
    for (const damage of DAMAGES) {
      const body = withValue(whole, path, damage);
      const losses = compare(ANSWER_SHAPES[operation], body, NOW).fields.map(({ loss }) => loss);
      const isRefused = losses.includes('answer') || losses.includes('row');
      const read = await READERS[operation](body);
      expect({ damage, isRefused }).toEqual({ damage, isRefused: read === null });
      // An instrument's fields are never lost by themselves: what it may lack is null anyway.
      if (operation === 'getAllTickers' || read === null) continue;
      const isLost = nullsIn(read) > nullsIn(intact);
      expect({ damage, isLost }).toEqual({ damage, isLost: losses.includes('value') });
    }
  });
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
