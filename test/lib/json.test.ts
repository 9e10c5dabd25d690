import { expect, test } from 'vitest';
import {
  INEXACT,
  isExactNumber,
  LongInteger,
  parseExactJson,
  parseLongIntegers,
} from '../../src/lib/json.ts';
import { cpuOf } from '../support/cpu.ts';

const EXACT = [
  ...['0', '-0', '0.0', '0e400', '0e-400', '1.10', '-1.5', '1e3', '1E+3', '100e-2', '0.1', '1e21'],
  ...['100000000000000000000000', '9007199254740992', '0.10000000000000000000000000', '5e-324'],
  ...['1.7976931348623157e308', '12345678901234567000', '0.0000000000000000000000015'],
];

const INEXACT_TEXTS = [
  ...['1e400', '-1e400', '1e-400', '1.8e308', '12345678901234567890', '9007199254740993'],
  ...['0.1000000000000000055', '123456789012345.123456789012345', '1.23456e-320', '1e309'],
  ...['-12345678901234567890', '1e99999999999999999999', '0.30000000000000001'],
];

test.each(EXACT)('%s is exact', (text) => {
  expect(isExactNumber(text)).toBe(true);
});

test.each(INEXACT_TEXTS)('%s is inexact at any position', (text) => {
  expect(isExactNumber(text)).toBe(false);
  for (const [before, after] of [
    ['', ''],
    [' ', '\n'],
    ['\t', ' '],
  ]) {
    expect(parseExactJson(`{"a":${before}${text}${after}}`)).toEqual({ a: INEXACT });
    expect(parseExactJson(`[1,${before}${text}${after},"${text}"]`)).toEqual([1, INEXACT, text]);
    expect(parseExactJson(`[${before}${text}${after}]`)).toEqual([INEXACT]);
  }
});

test('every printed double is exact', () => {
  // A generator of pseudo-random bits.
  let state = 1n;
  const bits = new DataView(new ArrayBuffer(8));
  for (let run = 0; run < 20_000; run += 1) {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) % 2n ** 64n;
    bits.setBigUint64(0, state);
    const number = bits.getFloat64(0);
    if (Number.isFinite(number)) expect(isExactNumber(String(number))).toBe(true);
  }
});

// With quadratic time, eight times the zeros would take 64 times as long.
test('checking a number of many zeros takes linear time', () => {
  const texts = (zeros: number) => [
    `1${'0'.repeat(zeros)}1e-${zeros + 1}`,
    `0.${'0'.repeat(zeros)}1`,
  ];
  expect(texts(16_000).map(isExactNumber)).toEqual([false, false]);
  const cpuAt = (zeros: number) => cpuOf(() => texts(zeros).map(isExactNumber));
  expect(cpuAt(16_000)).toBeLessThan(24 * cpuAt(2_000));
});

test.each([
  '{"variables":{"key":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}}',
  '{"sha256Hash":"ecf4edb46db40b5132295c0291d62fb65d6759a9eedfa4d5d612dd5ca54a6b38"}',
  '{"id":"12345678901234567890","at":"2026-11-20T09:30:00.000Z","price":101.25}',
  '{"units":123456789012345,"query":"{ a1e2 b }"}',
  '{"a":"1e400","b\\"1e400":[1e400,"\\\\",1e400,"\\\\\\"12345678901234567890,"],"c":{"":[-1e400]}}',
  '{"__proto__":1e400,"a":1e400,"a":1}',
  ' [ 1e400 , {} , null , true , [] , "", { "1" : 1e400 , "0" : -0.5e-400 } ] ',
])('only inexact numbers are parsed differently than by JSON.parse: %s', (text) => {
  const revive = (_key: string, value: unknown) =>
    typeof value === 'number' && Math.abs(value) > 1e308 ? INEXACT : value;
  const expected = JSON.parse(text.replaceAll('-0.5e-400', '1e400'), revive);
  expect(Object.entries(parseExactJson(text) as object)).toEqual(Object.entries(expected));
});

test('a whole number of sixteen digits keeps its digits at any position', () => {
  const text =
    '{"a":[-1234567890123456,12345678901234567,1234567890123456.5,1e16,"1234567890123456"]}';
  const [, , ...rest] = JSON.parse(text).a;
  const kept = ['-1234567890123456', '12345678901234567'].map((digits) => new LongInteger(digits));
  expect(parseLongIntegers(text)).toStrictEqual({ a: [...kept, ...rest] });
});

test('after a thousand numbers that need a check, every further number of this kind counts as inexact', () => {
  const texts = [...Array(1_001).keys()].map((index) => `${index + 1}e2`);
  const parsed = parseExactJson(`[1,"1e1",${texts}]`) as unknown[];
  // Two values precede the thousand, whose last is 1000e2.
  expect(parsed.lastIndexOf(100_000)).toBe(1_001);
  expect(parsed.indexOf(INEXACT)).toBe(1_002);
});

test('one inexact number in a body costs a small multiple of JSON.parse', () => {
  const text = `[1e400,${'1,'.repeat(100_000)}1]`;
  // It took seven times as long in a measurement. With a reviver it took a hundred times as long.
  expect(cpuOf(() => parseExactJson(text))).toBeLessThan(30 * cpuOf(() => JSON.parse(text)));
});
