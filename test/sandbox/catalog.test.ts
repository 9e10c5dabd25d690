import { expect, test } from 'vitest';
import type { WireInstrument } from '../../src/gateway/operations/get-all-tickers.ts';
import { INSTRUMENT } from '../../src/gateway/operations/get-all-tickers.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { openSandbox } from './sandbox-client.ts';

const STANDARD = '/trading/tickers/standard-usd';
const DEMO = 'demo@example.com';
const rowsOf = ({ body }: { body: unknown }) => body as WireInstrument[];

test.each([4, 10, 500, 3_000])(
  'a catalog of %i instruments conforms to the gateway’s interface',
  async (count) => {
    await using place = await openSandbox({ instruments: count });
    const rows = rowsOf(await place.as(DEMO).get(STANDARD));
    expect(rows).toHaveLength(count);
    expect(rows.filter((row) => INSTRUMENT.read(row, readingIn('auto')) === null)).toEqual([]);
    expect(new Set(rows.map(({ _id }) => _id)).size).toBe(count);
  },
);
