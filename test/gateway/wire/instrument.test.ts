import { describe, expect, test } from 'vitest';
import { INSTRUMENT, toInstruments } from '../../../src/gateway/operations/get-all-tickers.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { turnsDuring } from '../../support/turns.ts';
import { instrumentRow, wrongFor } from './rows.ts';

const instrumentIn = (row: unknown) => INSTRUMENT.read(row, readingIn('auto'));
const OPTIONAL = ['tradingHours', 'swap', 'mFx', 'pFx'] as const;
const FIELDS = Object.keys(instrumentRow) as (keyof typeof instrumentRow)[];

describe('an instrument', () => {
  test('has each of the 27 fields of the gateway’s interface, under its name in the schema', () => {
    const { _id, friendlyName, desc, ...same } = instrumentRow;
    expect(FIELDS).toHaveLength(27);
    expect(instrumentIn(instrumentRow)).toStrictEqual({
      ...same,
      id: 'AAPL',
      symbol: 'AAPL',
      name: 'Apple',
      description: 'Apple Inc.',
    });
  });

  test.each(OPTIONAL)('has null for %s if this field is missing or null', (field) => {
    const { [field]: _, ...rest } = instrumentRow;
    const expected = { ...instrumentIn(instrumentRow), [field]: null };
    expect(instrumentIn(rest)).toStrictEqual(expected);
    expect(instrumentIn({ ...rest, [field]: null })).toStrictEqual(expected);
  });

  test('with an unknown sharia status has null for it, and is kept', () => {
    for (const shariaStatus of ['compliant', 'UNDER_REVIEW', '']) {
      const row = { ...instrumentRow, shariaStatus };
      expect(instrumentIn(row)).toStrictEqual({
        ...instrumentIn(instrumentRow),
        shariaStatus: null,
      });
    }
  });

  test.each(FIELDS)('is refused without %s, or with another type of it', (field) => {
    const isOptional = (OPTIONAL as readonly string[]).includes(field);
    for (const [name, wrong] of wrongFor(instrumentRow[field])) {
      if (wrong == null && isOptional) continue;
      expect(instrumentIn({ ...instrumentRow, [field]: wrong }), name).toBeNull();
    }
  });

  test.each([
    ['an empty id', { _id: '' }],
    ['a list where the sharia status should be', { shariaStatus: ['COMPLIANT'] }],
    ['a fraction of digits', { digits: 2.5 }],
    ['more digits than an Int holds', { digits: 2 ** 31 }],
    ['fewer digits than an Int holds', { digits: -(2 ** 31) - 1 }],
    ['a list that is not only strings', { session: ['09:30', null] }],
    [
      'trading hours without a timezone',
      { tradingHours: { ...instrumentRow.tradingHours, timezone: undefined } },
    ],
    [
      'trading hours with a string for a list',
      { tradingHours: { ...instrumentRow.tradingHours, overnight: '' } },
    ],
    ['a swap without a tick', { swap: { long: 1, short: 1, mode: 1 } }],
    ['a swap with a string', { swap: { ...instrumentRow.swap, long: '1,5' } }],
  ])('with %s is refused', (_, change) => {
    expect(instrumentIn({ ...instrumentRow, ...change })).toBeNull();
  });

  test('may have its numbers as strings', () => {
    const { min, digits, swap } = instrumentRow;
    const asTexts = { min: String(min), digits: `${digits}.0`, swap: { ...swap, long: '-1.50' } };
    const row = { ...instrumentRow, ...asTexts };
    expect(instrumentIn(row)).toStrictEqual(instrumentIn(instrumentRow));
    // The nearest number that JavaScript has.
    expect(instrumentIn({ ...row, max: '1000000000000000.1' })?.max).toBe(1e15 + 0.125);
  });

  test.each([[null], [undefined], ['AAPL'], [7], [[]], [[instrumentRow]]])('is not %j', (row) => {
    expect(instrumentIn(row)).toBeNull();
  });
});

describe('a catalog', () => {
  test('leaves out and counts rows that break the gateway’s interface, but does not count duplicates', async () => {
    const broken = { ...instrumentRow, _id: 'MSFT', digits: 'x' };
    const rows = [instrumentRow, broken, null, 7, { ...instrumentRow, friendlyName: 'Other' }];
    expect(await toInstruments(rows, readingIn('auto'))).toMatchObject({
      instruments: [{ id: 'AAPL', name: instrumentIn(instrumentRow)?.name }],
      skipped: 3,
      total: 5,
    });
  });

  test('with thousands of rows yields to other tasks in between', async () => {
    const rows = Array.from({ length: 5_500 }, (_, n) => ({ ...instrumentRow, _id: `I${n}` }));
    const turns = await turnsDuring(async () => {
      expect((await toInstruments(rows, readingIn('auto'))).instruments).toHaveLength(5_500);
    });
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
