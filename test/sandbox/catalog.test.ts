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

  test('leaves out what the interface lets be missing in some rows, and only that', async () => {
    await using place = await openSandbox();
    const rows = rowsOf(await place.as(DEMO).get(STANDARD));
    for (const field of ['tradingHours', 'swap', 'mFx', 'pFx'] as const) {
      const having = rows.filter((row) => field in row).length;
      expect(having, field).toBeGreaterThan(0);
      expect(having, field).toBeLessThan(rows.length);
    }
    const fields = new Set(rows.flatMap((row) => Object.keys(row)));
    expect(fields.size).toBe(27);
    expect(rows.map(({ _id }) => _id)).toEqual(
      expect.arrayContaining(['AAPL', 'BRK.B', 'EURUSD', 'BTCUSD', 'XAUUSD', 'US500']),
    );
  });
});

describe('its headers', () => {
  test('can be set by hand, and removed', async () => {
    await using place = await openSandbox();
    const demo = place.as(DEMO);
    place.sandbox.changeCatalog({ ageSeconds: 5_000, cacheControl: 'max-age=60' });
    const old = await demo.get(STANDARD);
    expect(old.headers.get('age')).toBe('5000');
    expect(old.headers.get('cache-control')).toBe('max-age=60');
    await place.clock.advance(10_000);
    expect((await demo.get(STANDARD)).headers.get('age')).toBe('5010');
    place.sandbox.changeCatalog({
      ageSeconds: null,
      cacheControl: null,
      etag: false,
      headers: { expires: '0' },
    });
    const bare = await demo.get(STANDARD, { 'if-none-match': '*' });
    expect(bare.status).toBe(200);
    for (const name of ['age', 'cache-control', 'etag']) expect(bare.headers.get(name)).toBeNull();
    expect(bare.headers.get('expires')).toBe('0');
  });

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

describe('a change on demand', () => {
  test('changes, adds and removes as many as asked for', async () => {
    await using place = await openSandbox({ instruments: 200 });
    const demo = place.as(DEMO);
    const before = rowsOf(await demo.get(STANDARD));
    place.sandbox.changeCatalog({ change: 7, add: 5, remove: 10 });
    const after = rowsOf(await demo.get(STANDARD));
    const known = new Map(before.map((row) => [row._id, row]));
    const changed = after.filter(
      ({ _id, desc }) => known.has(_id) && known.get(_id)?.desc !== desc,
    );
    expect(changed).toHaveLength(7);
    expect(after.filter(({ _id }) => !known.has(_id))).toHaveLength(5);
    const left = new Set(after.map(({ _id }) => _id));
    const removed = before.filter(({ _id }) => !left.has(_id));
    expect(removed).not.toEqual([]);
    expect(after).toHaveLength(before.length + 5 - removed.length);
  });

  test('can break rows, or leave none, until reset', async () => {
    await using place = await openSandbox({ instruments: 50 });
    const demo = place.as(DEMO);
    place.sandbox.changeCatalog({ broken: 6 });
    const broken = rowsOf(await demo.get(STANDARD));
    expect(broken.filter((row) => toInstrument(row) === null)).toHaveLength(6);
    place.sandbox.changeCatalog({ empty: true });
    expect((await demo.get(STANDARD)).text).toBe('[]');
    place.sandbox.changeCatalog({ empty: false, broken: 0 });
    expect(rowsOf(await demo.get(STANDARD)).every((row) => toInstrument(row) !== null)).toBe(true);
  });
});
