import { expect, test } from 'vitest';
import type { OperationName } from '../../../src/gateway/operations.ts';
import { useSignedInApp } from '../../support/signed-in-app.ts';
import { seriesValue } from '../operations/scraped.ts';

const screen = useSignedInApp();

const counted = (operation: OperationName) =>
  seriesValue(screen.app, `gateway_figures_inexact_total{operation="${operation}"}`);

test.each([
  ['900719925474099', '900719925474099'],
  ['9007199254740993', '9007199254740993'],
  ['12345678901234567890123', '12345678901234567890123'],
  ['-9007199254740993', '-9007199254740993'],
  ['1.23e22', null],
  ['1e400', null],
  ['"9007199254740993"', null],
])('the id %s of a withdrawal method names that one, or none', async (id, shown) => {
  const row = `{"id":${id},"title":"Bank 9007199254740993"}`;
  screen.fake('getWithdrawalMethods', `[[${row}]]`);
  const { withdrawalMethods } = await screen.read('{ withdrawalMethods { id title } }');
  expect(withdrawalMethods).toEqual([{ id: shown, title: 'Bank 9007199254740993' }]);
});

test('a figure that a double does not count exactly is null and counted, in a position', async () => {
  const before = await counted('getOpenPositions');
  const figures =
    '"profit":9007199254740993,"invested":1e400,"units":-1e16,"storage":9007199254740991';
  const rest =
    '"priceOpen":0.30000000000000001,"sl":-9007199254740991,"timeCreate":1735689600000000';
  screen.fake('getOpenPositions', `{"positions":[{"id":"a","symbol":"AAPL",${figures},${rest}}]}`);
  const { positions, positionTotals } = await screen.read(
    '{ positions { profit invested units storage priceOpen stopLoss createdAt } positionTotals { profit invested } }',
  );
  expect(positions).toEqual([
    {
      ...{ profit: null, invested: null, units: null, storage: 9007199254740991, priceOpen: 0.3 },
      ...{ stopLoss: -9007199254740991, createdAt: '2025-01-01T00:00:00.000Z' },
    },
  ]);
  expect(positionTotals).toEqual({ profit: null, invested: null });
  expect((await counted('getOpenPositions')) - before).toBe(3);
});

test('a total that a double does not count exactly is null', async () => {
  const row = (id: string) =>
    `{"id":"${id}","symbol":"AAPL","profit":9007199254740991,"invested":0.1}`;
  screen.fake('getOpenPositions', `{"positions":[${row('a')},${row('b')}]}`);
  const { positionTotals } = await screen.read('{ positionTotals { profit invested } }');
  expect(positionTotals).toEqual({ profit: null, invested: 0.2 });
});

test('a figure of an instrument is the nearest double and counted, and costs no row', async () => {
  const before = await counted('getAllTickers');
  const text = await catalogWith(
    screen.app.sandbox.url,
    screen.token,
    '"limit":9223372036854775807',
  );
  screen.fake('getAllTickers', text);
  screen.app.sandbox.changeCatalog({ change: 1 });
  const { instruments, catalog } = await screen.read(
    '{ catalog { size skipped } instruments(first: 1) { nodes { limit } } }',
  );
  expect(catalog).toEqual({ size: 1, skipped: 0 });
  expect(instruments.nodes).toEqual([{ limit: Number('9223372036854775807') }]);
  expect((await counted('getAllTickers')) - before).toBe(1);
});

/** The gateway's first instrument, with one field as given. */
async function catalogWith(url: string, token: string, field: string): Promise<string> {
  const response = await fetch(`${url}/trading/tickers/standard-usd`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const [first] = (await response.json()) as Record<string, unknown>[];
  const { limit: _, ...rest } = first ?? {};
  return `[${JSON.stringify(rest).slice(0, -1)},${field}}]`;
}
