import { describe, expect, test } from 'vitest';
import { figure, instant, readingIn, type TimeUnit } from '../../src/gateway/scalars.ts';
import { parseLongIntegers } from '../../src/lib/json.ts';

// `auto` reads numbers below 10^11 as seconds, and below 10^14 as milliseconds. It reads 0 as a missing time.
describe('a time', () => {
  test.each<[TimeUnit, unknown, string | null]>([
    ['s', 1_735_689_600, '2025-01-01T00:00:00.000Z'],
    ['s', 1_735_689_600.5, '2025-01-01T00:00:00.500Z'],
    ['s', 1_735_689_600.0005, '2025-01-01T00:00:00.000Z'],
    ['ms', 1_735_689_600_000, '2025-01-01T00:00:00.000Z'],
    ['ms', 1_735_689_600, '1970-01-21T02:08:09.600Z'],
    ['auto', 99_999_999_999, '5138-11-16T09:46:39.000Z'],
    ['auto', 100_000_000_000, '1973-03-03T09:46:40.000Z'],
    ['auto', 99_999_999_999_999, '5138-11-16T09:46:39.999Z'],
    ['auto', 1_735_689_600_123_999, null],
    ['auto', parseLongIntegers('1735689600123999'), null],
    ['auto', 0, null],
    ['ms', 1, '1970-01-01T00:00:00.001Z'],
    ['auto', -86_400, '1969-12-31T00:00:00.000Z'],
    ['auto', -1_000_000_000_000, '1938-04-24T22:13:20.000Z'],
    ['ms', 253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
    ['ms', 253_402_300_800_000, null],
    ['s', 253_402_300_800, null],
    ['ms', -62_167_219_200_000, '0000-01-01T00:00:00.000Z'],
    ['ms', -62_167_219_200_001, null],
    ['auto', 1_735_689_600_000_000_000, null],
    ['auto', Number.POSITIVE_INFINITY, null],
    ['auto', Number.NaN, null],
    ['auto', '1735689600', '2025-01-01T00:00:00.000Z'],
    ['s', '2025-01-01T00:00:00Z', '2025-01-01T00:00:00.000Z'],
    ['auto', '2025-01-01T02:00:00.123456+02:00', '2025-01-01T00:00:00.123Z'],
    ['auto', '1970-01-01T00:00:00Z', null],
    ['auto', '2025-01-01T00:00:00', null],
    ['auto', '2025-02-30T00:00:00Z', null],
    ['auto', '0', null],
    ['auto', null, null],
  ])('in %s, sent as %s, is %s', (unit, ticks, expected) => {
    expect(instant(ticks, readingIn(unit))).toBe(expected === null ? null : Date.parse(expected));
  });
});

test.each([
  ['1e309', null],
  ['-1e309', null],
  ['1e16', null],
  ['9007199254740993', null],
  ['-9007199254740993', null],
  ['9007199254740991', 9007199254740991],
  ['-9007199254740991', -9007199254740991],
  ['0.1000000000000000055', 0.1],
  ['"1"', 1],
  ['"-0.10"', -0.1],
  ['"0E-8"', 0],
  ['"1.5e3"', 1_500],
  ['"12345678.12345678"', 12345678.12345678],
  ['"0.10000000000000000555"', null],
  ['"9007199254740993"', null],
  ['"1e309"', null],
  ['""', null],
  ['" 1"', null],
  ['"1,5"', null],
  ['"0x10"', null],
  ['".5"', null],
  ['"Infinity"', null],
  [`"${'1'.repeat(49)}"`, null],
  ['null', null],
])('the figure %s is read as %s', (json, expected) => {
  for (const parse of [JSON.parse, parseLongIntegers]) {
    expect(figure(parse(json))).toBe(expected);
  }
});
