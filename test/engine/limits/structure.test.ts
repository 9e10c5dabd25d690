import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { structureErrors } from '../../../engine/limits/structure.ts';
import { buildSchema } from '../../../src/schema/schema.ts';

const schema = buildSchema();

const LIMITS = { maxTokens: 4_000, maxDepth: 15, maxAliases: 30, maxDirectives: 20 };

function refusals(text: string) {
  return structureErrors(parse(text), LIMITS, schema).map(({ message, extensions }) => [
    extensions.limit ?? message,
    extensions.value,
  ]);
}

const repeat = (times: number, make: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => make(at)).join(' ');

test('fragments that double at each of twenty links are counted', () => {
  const links = repeat(
    21,
    (at) => `fragment F${at} on Node { ${at < 20 ? `...F${at + 1} ...F${at + 1}` : 'a: id'} }`,
  );
  const refused = new Map(refusals(`{ node { ...F0 } } ${links}`) as [string, number][]);
  expect(refused.get('MAX_ALIASES')).toBe(2 ** 20);
  expect(refused.get('selections')).toBeGreaterThan(2 ** 21);
});

test.each([
  ['one', '{ ...A } fragment A on Query { ...A }'],
  ['two', '{ ...A } fragment A on Query { b { ...B } } fragment B on Node { a { ...A } }'],
  ['unused fragments', '{ id } fragment A on Query { ...B } fragment B on Query { ...A }'],
  [
    'two hundred',
    `{ ...F0 } ${repeat(200, (at) => `fragment F${at} on Query { ...F${(at + 1) % 200} ...F${(at + 7) % 200} }`)}`,
  ],
])('a circle of fragments is named: %s', (_name, text) => {
  expect(refusals(text)).toEqual([
    [expect.stringMatching(/^Fragment "\w+" leads back to itself\.$/), undefined],
  ]);
});

test('what meets at one place of the answer counts, wherever it is written', () => {
  const times = 142;
  const pairs = (times * (times - 1)) / 2;
  expect(refusals(`{ ${repeat(times, () => 'id')} }`)).toEqual([['repeated fields', pairs]]);
  // The same once more inside of each of them.
  expect(refusals(`{ ${repeat(times, () => 'node { id }')} }`)).toEqual([
    ['repeated fields', pairs * 2],
  ]);
  expect(refusals(`{ ${repeat(times, () => '... { id }')} }`)).toEqual([
    ['repeated fields', pairs],
  ]);
  const inFragments = `{ ${repeat(times, (at) => `...F${at}`)} } ${repeat(times, (at) => `fragment F${at} on Query { id }`)}`;
  expect(refusals(inFragments)).toEqual([['repeated fields', pairs * 2]]);
});

test('what comes to just as many selections, or pairs, as are allowed passes', () => {
  expect(refusals(`{ ${repeat(15_000, (at) => `f${at}`)} }`)).toEqual([]);
  expect(refusals(`{ ${repeat(15_001, (at) => `f${at}`)} }`)).toEqual([['selections', 15_001]]);
  // 141 of a name are 9,870 pairs, 16 are 120, and 5 are 10.
  const repeated = `${repeat(141, () => 'a')} ${repeat(16, () => 'b')} ${repeat(5, () => 'c')}`;
  expect(refusals(`{ ${repeated} }`)).toEqual([]);
  expect(refusals(`{ ${repeated} d d }`)).toEqual([['repeated fields', 10_001]]);
});

test('a screen of many parts that share their fragments passes', () => {
  const text = `{ ${repeat(30, (at) => `a${at}: node { ...Row nodes { ...Row } }`)} }
    fragment Row on Node { ${repeat(25, (at) => `field${at}`)} ...Id }
    fragment Id on Node { id }`;
  expect(refusals(text)).toEqual([]);
});
