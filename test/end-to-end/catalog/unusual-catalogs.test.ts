import { expect, test } from 'vitest';
import type { WireInstrument } from '../../../src/gateway/wire/instrument.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { linesOf } from '../operations/request-lines.ts';
import { seriesValue } from '../operations/scraped.ts';

const OPTIONAL = ['tradingHours', 'swap', 'mFx', 'pFx'];

/** The rows of the sandbox's own catalog, as the gateway sends them. */
async function rowsOf(app: TestApp, token: string): Promise<WireInstrument[]> {
  const response = await fetch(`${app.sandbox.url}/trading/tickers/standard-usd`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return (await response.json()) as WireInstrument[];
}

function serve(app: TestApp, body: readonly object[]): void {
  app.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 200, body });
}

test('a serializer that writes nulls for what is absent loses no instrument', async () => {
  await using app = await startTestApp({ SANDBOX_INSTRUMENTS: '30' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const rows = await rowsOf(app, token);
  const absent = Object.fromEntries(OPTIONAL.map((name) => [name, null]));
  serve(
    app,
    rows.map((row) => ({ ...row, ...absent })),
  );
  const { data, errors } = await app.query(
    '{ catalog { size skipped instruments { swap { long } tradingHours { timezone } mFx pFx } } }',
    { token },
  );
  expect(errors).toEqual([]);
  expect(data.catalog).toMatchObject({ size: rows.length, skipped: 0 });
  for (const instrument of data.catalog.instruments) expect(instrument).toEqual(absent);
});

test('a new word of the gateway costs no instrument, and is counted', async () => {
  await using app = await startTestApp({ SANDBOX_INSTRUMENTS: '30' });
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const rows = await rowsOf(app, token);
  serve(
    app,
    rows.map((row, at) => ({ ...row, shariaStatus: at < 3 ? 'UNDER_REVIEW' : 'COMPLIANT' })),
  );
  const { data, errors } = await app.query(
    `{
      catalog { size skipped unknownValues }
      all: instruments(first: 0) { totalCount }
      known: instruments(first: 0, filter: { shariaStatuses: [COMPLIANT, QUESTIONABLE, NONCOMPLIANT] }) { totalCount }
      new: instrument(id: "${rows[0]?._id}") { id shariaStatus }
    }`,
    { token },
  );
  expect(errors).toEqual([]);
  expect(data).toEqual({
    catalog: { size: rows.length, skipped: 0, unknownValues: 3 },
    all: { totalCount: rows.length },
    known: { totalCount: rows.length - 3 },
    new: { id: rows[0]?._id, shariaStatus: null },
  });
  expect(await seriesValue(app, 'catalog_unknown_values')).toBe(3);
  expect(linesOf(app, 'instruments have values of enums that are not known here')).toMatchObject([
    { level: 'warn', unknownValues: 3, total: rows.length },
  ]);
});
