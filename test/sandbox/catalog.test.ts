import { expect, test } from 'vitest';
import { INSTRUMENT } from '../../src/gateway/operations/get-all-tickers.ts';
import { readingIn } from '../../src/gateway/scalars.ts';
import { openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';

test.each([4, 10, 500, 3_000])(
  'a catalog of %i instruments conforms to the gateway’s interface',
  async (count) => {
    await using place = await openSandbox({ instruments: count });
    const rows = (await place.as(DEMO).ask('getAllTickers')).body as unknown[];
    expect(rows).toHaveLength(count);
    const ids = rows.map((row) => INSTRUMENT.read(row, readingIn('auto'))?.id);
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(count);
  },
);
