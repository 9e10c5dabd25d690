import { expect, test } from 'vitest';
import type { WireInstrument } from '../../src/gateway/operations/get-all-tickers.ts';
import { INSTRUMENT } from '../../src/gateway/operations/get-all-tickers.ts';
import { readingIn } from '../../src/gateway/wire/scalars.ts';
import { openSandbox } from './sandbox-client.ts';

const STANDARD = '/trading/tickers/standard-usd';
const DEMO = 'demo@example.com';
const rowsOf = ({ body }: { body: unknown }) => body as WireInstrument[];

test.each([4, 10, 500, 3_000])(
  'a catalog of %i instruments keeps to the interface',
  async (count) => {
    await using place = await openSandbox({ instruments: count });
    const rows = rowsOf(await place.as(DEMO).get(STANDARD));
    expect(rows).toHaveLength(count);
    expect(rows.filter((row) => INSTRUMENT.read(row, readingIn('auto')) === null)).toEqual([]);
    expect(new Set(rows.map(({ _id }) => _id)).size).toBe(count);
  },
);

test('the catalog has as many instruments as it is told while it runs, the same for the same number', async () => {
  await using place = await openSandbox({ instruments: 500 });
  const demo = place.as(DEMO);
  const pro = place.as('pro@example.com');
  const catalogs = async () => [
    await demo.get(STANDARD),
    await pro.get('/trading/tickers/pro-usd'),
  ];
  const before = (await catalogs()).map(({ text }) => text);
  for (const size of [5_000, 20_000, 300]) {
    place.sandbox.resizeCatalog(size);
    const symbols = rowsOf(await demo.get(STANDARD)).map(({ _id }) => _id);
    expect(symbols).toHaveLength(size);
    expect(new Set(symbols).size).toBe(size);
    expect(symbols[299]).toBe(JSON.parse(before[0] ?? '')[299]._id);
  }
  place.sandbox.resizeCatalog(500);
  expect((await catalogs()).map(({ text }) => text)).toEqual(before);
});
