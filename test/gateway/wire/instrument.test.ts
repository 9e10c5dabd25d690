import { describe, expect, test } from 'vitest';
import {
  HOURS,
  INSTRUMENT,
  SWAP,
  toInstruments,
} from '../../../src/gateway/operations/get-all-tickers.ts';
import { readingIn } from '../../../src/gateway/scalars.ts';
import { turnsDuring } from '../../support/turns.ts';
import { instrumentRow, instrumentValues, instrumentWith, wrongFor } from './rows.ts';

const instrumentIn = (row: unknown) => INSTRUMENT.read(row, readingIn('auto'));
const OPTIONAL = ['tradingHours', 'swap', 'mFx', 'pFx'] as const;
const FIELDS = (Object.keys(instrumentValues) as (keyof typeof instrumentValues)[]).filter(
  (name) => name !== 'symbol',
);
const whole = instrumentIn(instrumentRow);
const hoursWith = (change: object) => HOURS.toWire({ ...instrumentValues.tradingHours, ...change });
const swapWith = (change: object) => SWAP.toWire({ ...instrumentValues.swap, ...change });

describe('an instrument', () => {
  test('has each of the 27 fields of the gateway’s interface, under its name in the schema', () => {
    expect(FIELDS).toHaveLength(27);
    expect(whole).toStrictEqual(instrumentValues);
  });

  test.each(OPTIONAL)('has null for %s if this field is missing or null', (field) => {
    for (const nothing of [undefined, null]) {
      const row = instrumentWith({ [field]: nothing });
      expect(instrumentIn(row)).toStrictEqual({ ...whole, [field]: null });
    }
  });

  test('with an unknown sharia status has null for it, and is kept', () => {
    for (const shariaStatus of ['compliant', 'UNDER_REVIEW', '']) {
      const row = instrumentWith({ shariaStatus });
      expect(instrumentIn(row)).toStrictEqual({ ...whole, shariaStatus: null });
    }
  });

  test.each(FIELDS)('is refused without %s, or with another type of it', (field) => {
    const isOptional = (OPTIONAL as readonly string[]).includes(field);
    for (const [name, wrong] of wrongFor(instrumentValues[field])) {
      if (wrong == null && isOptional) continue;
      expect(instrumentIn(instrumentWith({ [field]: wrong })), name).toBeNull();
    }
  });

  test.each([
    ['an empty id', { id: '' }],
    ['a list where the sharia status should be', { shariaStatus: ['COMPLIANT'] }],
    ['a fraction of digits', { digits: 2.5 }],
    ['more digits than an Int holds', { digits: 2 ** 31 }],
    ['fewer digits than an Int holds', { digits: -(2 ** 31) - 1 }],
    ['a list that is not only strings', { session: ['09:30', null] }],
    ['trading hours without a timezone', { tradingHours: hoursWith({ timezone: undefined }) }],
    ['trading hours with a string for a list', { tradingHours: hoursWith({ overnight: '' }) }],
    ['a swap without a tick', { swap: swapWith({ tick: undefined }) }],
    ['a swap with a string', { swap: swapWith({ long: '1,5' }) }],
  ])('with %s is refused', (_, change) => {
    expect(instrumentIn(instrumentWith(change))).toBeNull();
  });

  test('may have its numbers as strings', () => {
    const { min, digits } = instrumentValues;
    const asTexts = { min: String(min), digits: `${digits}.0`, swap: swapWith({ long: '-1.50' }) };
    expect(instrumentIn(instrumentWith(asTexts))).toStrictEqual(whole);
    // The nearest number that JavaScript has.
    expect(instrumentIn(instrumentWith({ max: '1000000000000000.1' }))?.max).toBe(1e15 + 0.125);
    expect(instrumentIn(instrumentWith({ limit: 2 ** 63 }))?.limit).toBe(2 ** 63);
  });

  test.each([[null], [undefined], ['AAPL'], [7], [[]], [[instrumentRow]]])('is not %j', (row) => {
    expect(instrumentIn(row)).toBeNull();
  });
});

describe('a catalog', () => {
  test('leaves out and counts rows that break the gateway’s interface, but does not count duplicates', async () => {
    const broken = instrumentWith({ id: 'MSFT', digits: 'x' });
    const rows = [instrumentRow, broken, null, 7, instrumentWith({ name: 'Other' })];
    expect(await toInstruments(rows, readingIn('auto'))).toMatchObject({
      instruments: [{ id: 'AAPL', name: whole?.name }],
      skipped: 3,
      total: 5,
    });
  });

  test('with thousands of rows yields to other tasks in between', async () => {
    const rows = Array.from({ length: 5_500 }, (_, n) => instrumentWith({ id: `I${n}` }));
    const turns = await turnsDuring(async () => {
      expect((await toInstruments(rows, readingIn('auto'))).instruments).toHaveLength(5_500);
    });
    expect(turns).toBeGreaterThanOrEqual(4);
  });
});
