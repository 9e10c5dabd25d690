import { expect, test } from 'vitest';
import type { WireInstrument } from '../../src/gateway/wire/instrument.ts';
import { startTestApp } from '../support/app.ts';

const INSTRUMENTS = 5_000;

const ALL_FIELDS = `
  id symbol name description logo delayed sharia shariaStatus leverage pdt digits session quotes
  tradingHours { timezone regular preMarket postMarket overnight otherExtended }
  sector industry mode calc swap { long short mode tick }
  min max step limit mCurrency pCurrency mFx pFx access`;

/** The schema's names for the gateway's fields, written down a second time. */
function expected({ _id, friendlyName, desc, ...same }: WireInstrument) {
  return {
    id: _id,
    symbol: _id,
    name: friendlyName,
    description: desc,
    tradingHours: null,
    swap: null,
    mFx: null,
    pFx: null,
    ...same,
  };
}

test('the whole catalog is the gateway’s answer, field by field', async () => {
  await using app = await startTestApp({ SANDBOX_INSTRUMENTS: String(INSTRUMENTS) });
  const token = await app.signIn();
  const response = await fetch(`${app.sandbox.url}/trading/tickers/standard-usd`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const rows = (await response.json()) as WireInstrument[];
  expect(rows).toHaveLength(INSTRUMENTS);

  const { data, errors } = await app.query(
    `{ catalog { size skipped instruments { ${ALL_FIELDS} } } }`,
    {
      token,
    },
  );
  expect(errors).toEqual([]);
  expect(data.catalog).toMatchObject({ size: INSTRUMENTS, skipped: 0 });
  const served = new Map(
    data.catalog.instruments.map((instrument: { id: string }) => [instrument.id, instrument]),
  );
  expect(served.size).toBe(INSTRUMENTS);
  for (const row of rows) expect(served.get(row._id)).toEqual(expected(row));
});
