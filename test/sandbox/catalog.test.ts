import { describe, expect, test } from 'vitest';
import { toInstrument, type WireInstrument } from '../../src/gateway/wire/instrument.ts';
import { openSandbox } from './sandbox-client.ts';

const STANDARD = '/trading/tickers/standard-usd';
const DEMO = 'demo@example.com';
const rowsOf = ({ body }: { body: unknown }) => body as WireInstrument[];

describe('the catalog', () => {
  test.each([4, 10, 500, 3_000])('of %i instruments keeps to the interface', async (count) => {
    await using place = await openSandbox({ instruments: count });
    const rows = rowsOf(await place.as(DEMO).get(STANDARD));
    expect(rows).toHaveLength(count);
    expect(rows.filter((row) => toInstrument(row) === null)).toEqual([]);
    expect(new Set(rows.map(({ _id }) => _id)).size).toBe(count);
  });
});

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

describe('its headers', () => {
  test('answer a client that has this edition with a 304', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    const etag = (await demo.get(STANDARD)).headers.get('etag') ?? '';
    for (const held of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const answer = await demo.get(STANDARD, { 'if-none-match': held });
      expect([answer.status, answer.text]).toEqual([304, '']);
      expect(answer.headers.get('etag')).toBe(etag);
      expect(answer.headers.get('age')).toBe('0');
    }
    expect((await demo.get(STANDARD, { 'if-none-match': '"other"' })).status).toBe(200);
    place.sandbox.changeCatalog({ change: 1 });
    const anew = await demo.get(STANDARD, { 'if-none-match': etag });
    expect(anew.status).toBe(200);
    expect(anew.headers.get('etag')).not.toBe(etag);
  });
});
