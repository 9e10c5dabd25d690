import { beforeAll, expect, test } from 'vitest';
import {
  INSTRUMENT,
  type WireInstrument,
} from '../../../src/gateway/operations/get-all-tickers.ts';
import { startTestApp } from '../../support/app.ts';
import { askGateway } from '../../support/ask-gateway.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';

const LIST = '{ instruments(first: 3) { nodes { id name leverage } totalCount } }';

const app = sharedApp();
let token: string;

beforeAll(async () => {
  token = await app.signIn();
});

test('an answer of the catalog alone is not cached on its way, by GET or by POST', async () => {
  const url = `${app.url}/graphql?query=${encodeURIComponent(LIST)}`;
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
  for (const answer of [await fetch(url, { headers }), await app.query(LIST, { token })]) {
    expect(answer.status).toBe(200);
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding, Origin');
  }
});

test('a client reads what has changed since its version', async () => {
  await using own = await startTestApp({ CATALOG_MAX_AGE_SECONDS: '1' });
  own.sandbox.changeCatalog({ ageSeconds: null });
  const ownToken = await own.signIn();
  const catalog = async (fields: string) =>
    (await own.query(`{ catalog { ${fields} } }`, { token: ownToken })).data.catalog;
  const { version } = await catalog('version');
  own.sandbox.changeCatalog({ change: 3 });
  await eventually(async () => {
    const { changes } = await catalog(`changes(since: "${version}") { reset upserted { id } }`);
    expect(changes).toMatchObject({ reset: false });
    expect(changes.upserted).toHaveLength(3);
  });
});

test('an unknown enum value of the gateway does not drop the instrument', async () => {
  await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '30' });
  const ownToken = await own.signIn();
  const response = await askGateway(own.sandbox.url, 'getAllTickers', { token: ownToken });
  const rows = (await response.json()) as WireInstrument[];
  const { id, shariaStatus } = INSTRUMENT.names;
  const first = rows[0]?.[id];
  // The first three instruments get a value that the schema does not have.
  const statusOf = (index: number) => (index < 3 ? 'UNDER_REVIEW' : 'COMPLIANT');
  const body = rows.map((row, index) => ({ ...row, [shariaStatus]: statusOf(index) }));
  own.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 200, body });
  const { data, errors } = await own.query(
    `{
      catalog { size skipped }
      all: instruments(first: 0) { totalCount }
      known: instruments(first: 0, filter: { shariaStatuses: [COMPLIANT, QUESTIONABLE, NONCOMPLIANT] }) { totalCount }
      new: instrument(id: "${first}") { id shariaStatus }
    }`,
    { token: ownToken },
  );
  expect(errors).toEqual([]);
  expect(data).toEqual({
    catalog: { size: rows.length, skipped: 0 },
    all: { totalCount: rows.length },
    known: { totalCount: rows.length - 3 },
    new: { id: first, shariaStatus: null },
  });
});
