import { expect, test } from 'vitest';
import { createSharedValues } from '../../src/extensions/shared-values.ts';

const AAPL = { id: 'AAPL' };

test('a value is resolved once for its field, its instrument and its arguments', async () => {
  const values = createSharedValues();
  let resolved = 0;
  const get = (field: string, source: unknown, args: unknown) =>
    values(field, source, args, 60, () => (resolved += 1));
  const all = [
    get('Query.news', undefined, { symbol: 'A' }),
    get('Query.news', undefined, { symbol: 'B' }),
    get('Query.tips', undefined, { symbol: 'A' }),
    get('Instrument.news', AAPL, {}),
    // The same instrument in the catalog of another group.
    get('Instrument.news', { ...AAPL }, {}),
  ];
  expect(await Promise.all(all)).toEqual([1, 2, 3, 4, 5]);
  expect(await get('Query.news', undefined, { symbol: 'A' })).toBe(1);
  expect(await get('Instrument.news', AAPL, {})).toBe(4);
});

test('a value that is larger than all of them may be is passed on, and not kept', async () => {
  const values = createSharedValues();
  const large = 'x'.repeat(17 * 1024 * 1024);
  expect(await values('f', undefined, {}, 60, () => large)).toBe(large);
  expect(await values('f', undefined, {}, 60, () => 'small')).toBe('small');
});
