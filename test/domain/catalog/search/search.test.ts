import { expect, test } from 'vitest';
import { buildVersion } from '../../../../src/domain/catalog/catalog-version.ts';
import { pageOf } from '../../../../src/domain/catalog/paging/page.ts';
import type { Instrument } from '../../../../src/gateway/operations/get-all-tickers.ts';
import { instrument } from '../instruments.ts';

async function found(rows: readonly Instrument[], search: string): Promise<string[]> {
  const version = await buildVersion(rows, null);
  const { nodes } = await pageOf(version, { first: 500, filter: { search } });
  return nodes.map(({ id }) => id);
}

const ROWS = [
  instrument('BRK.B', { name: 'Berkshire Hathaway Inc. Class B' }),
  instrument('BRK.A', { name: 'Berkshire Hathaway Inc. Class A' }),
  instrument('AAPL', { name: 'Apple Inc.', description: 'Makes telephones.' }),
  instrument('MSFT', { name: 'Microsoft Corporation', description: 'Software for all.' }),
  instrument('T', { name: 'AT&T Inc.' }),
  instrument('KO', { name: 'Coca-Cola Company', description: 'Drinks of sugar.' }),
  instrument('NESN', { name: 'Nestlé S.A.' }),
  instrument('ORSTED', { name: 'Ørsted A/S' }),
  instrument('.DJI', { name: 'Dow Jones' }),
  instrument('EUR/USD', { name: 'Euro / US Dollar' }),
  instrument('$SPX', { name: 'Large companies' }),
  instrument('X', { name: 'U.S. Steel' }),
  instrument('GER40.cash', { name: 'Germany' }),
  instrument('0700.HK', { name: 'Tencent' }),
  instrument('VOD_UK', { name: 'Vodafone' }),
  instrument('ROCKET', { name: 'To the moon 🚀' }),
];

// The classes are: the symbol, a prefix of the symbol, the name, the description, and a typo.
test('matches are ordered by their class, and within a class by symbol', async () => {
  const rows = [
    instrument('ZZ6', { name: 'Golt' }),
    instrument('ZZ5', { description: 'A mine of goldstone' }),
    instrument('ZZ4', { name: 'Big Golden Company' }),
    instrument('ZZ3', { name: 'Gold Fields' }),
    instrument('GOLDZ'),
    instrument('GOLDA'),
    instrument('gold'),
    instrument('GOLD'),
    instrument('SILVER', { name: 'Silver' }),
  ];
  const expected = ['GOLD', 'gold', 'GOLDA', 'GOLDZ', 'ZZ3', 'ZZ4', 'ZZ5', 'ZZ6'];
  expect(await found(rows, 'gold')).toEqual(expected);
  expect(await found(rows.toReversed(), 'gold')).toEqual(expected);
});

test('a search of several words has the class of its worst match', async () => {
  const rows = [
    instrument('AAA', { name: 'Gold Minimg' }),
    instrument('MINING', { name: 'Company', description: 'Digs for gold' }),
    instrument('ZZA', { name: 'Gold', description: 'A mining company' }),
    instrument('ZZB', { name: 'Gold Mining' }),
    instrument('GOLD', { name: 'Mining' }),
    instrument('GOLDEN', { name: 'Nothing else' }),
  ];
  const expected = ['GOLD', 'ZZB', 'MINING', 'ZZA', 'AAA'];
  expect(await found(rows, 'gold mining')).toEqual(expected);
  expect(await found(rows, 'mining gold')).toEqual(expected);
  expect(await found(rows.toReversed(), 'gold mining')).toEqual(expected);
});

test('a currency pair is found by either currency', async () => {
  const pairs = [
    instrument('EURUSD', { pCurrency: 'USD' }),
    instrument('EURUSD.r', { pCurrency: 'USD' }),
    instrument('GBP/USD', { pCurrency: 'USD' }),
    instrument('USDJPY', { pCurrency: 'JPY' }),
    // Priced in USD, but not a pair.
    instrument('GOLD', { pCurrency: 'USD' }),
    instrument('ZZZ', { description: 'A fund of USD' }),
  ];
  expect(await found(pairs, 'usd')).toEqual(['USDJPY', 'EURUSD', 'EURUSD.r', 'GBP/USD', 'ZZZ']);
  expect(await found(pairs, 'jpy')).toEqual(['USDJPY']);
  expect(await found(pairs, 'usd gbp')).toEqual(['GBP/USD']);
  for (const search of ['EURUSD', 'EUR USD', 'eur/usd', 'EUR-USD']) {
    expect(await found(pairs, search), search).toEqual(['EURUSD', 'EURUSD.r']);
  }
});

const SEARCHES: readonly [search: string, ids: string[]][] = [
  // BRK.A is one typo away, and follows the exact match.
  ['brk.b', ['BRK.B', 'BRK.A']],
  ['dji', ['.DJI']],
  ['spx', ['$SPX']],
  ['us steel', ['X']],
  ['att', ['T']],
  ['cash', ['GER40.cash']],
  ['ger40 cash', ['GER40.cash']],
  ['hk', ['0700.HK']],
  ['vod uk', ['VOD_UK']],
  // Pasted text can contain invisible characters.
  ['\u2066appl\u00ade\u2069', ['AAPL']],
  ['VOD\u200b', ['VOD_UK']],
  ['Coca Cola', ['KO']],
  ['NESTLE', ['NESN']],
  ['orsted', ['ORSTED']],
  ['(apple)', ['AAPL']],
  ['telephones', ['AAPL']],
  ['microsfot', ['MSFT']],
  ['aplle', ['AAPL']],
  ['drinsk', ['KO']],
  // A typo in a short word of a description is not matched.
  ['sugra', []],
  ['hathaway class a', ['BRK.A']],
  ['apple microsoft', []],
  ['🚀', ['ROCKET']],
  ['!!!', []],
];

test.each(SEARCHES)('the search %s finds %j', async (search, ids) => {
  expect(await found(ROWS, search)).toEqual(ids);
});

test('a symbol with a space is found by the whole symbol and by its prefix', async () => {
  const rows = [instrument('US 500', { name: 'Index' }), instrument('US 500 MINI', { name: 'I' })];
  expect(await found(rows, 'us 500')).toEqual(['US 500', 'US 500 MINI']);
  expect(await found(rows, 'us  5')).toEqual(['US 500', 'US 500 MINI']);
});

const TYPOS: readonly [typed: string, word: string, isFound: boolean][] = [
  // A short word must match exactly, because with a typo it would match too many other words.
  ['abd', 'abc', false],
  // In a longer word one typo is found: a wrong, missing or additional letter, or two swapped letters.
  ['abxd', 'abcd', true],
  ['abde', 'abcde', true],
  ['abcde', 'abde', true],
  ['abdc', 'abcd', true],
  ['bacd', 'abcd', true],
  ['aabb', 'aabbb', true],
  ['abcx', 'abcdef', false],
  ['abxy', 'abcd', false],
  ['cabd', 'abcd', false],
  ['bacdfge', 'abcdefg', false],
];

test.each(TYPOS)('the search %s finds the name %s: %s', async (typed, word, isFound) => {
  expect(await found([instrument('ZZ', { name: word })], typed)).toEqual(isFound ? ['ZZ'] : []);
});
