import { beforeAll, describe, expect, test } from 'vitest';
import type { WireInstrument } from '../../../src/gateway/operations/get-all-tickers.ts';
import { startSandbox } from '../../../src/sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { sharedApp } from '../../support/shared-app.ts';

const LIST = '{ instruments(first: 3) { nodes { id name leverage } totalCount } }';

const app = sharedApp();
let token: string;

beforeAll(async () => {
  token = await app.signIn();
});

function get(document: string, headers: Record<string, string> = {}, variables?: object) {
  const query = new URLSearchParams({ query: document });
  if (variables) query.set('variables', JSON.stringify(variables));
  return fetch(`${app.url}/graphql?${query}`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json', ...headers },
  });
}

describe('a GET of the catalog alone', () => {
  test.each([LIST, '{ instrumentsByIds(ids: ["TSLA", "NOBODY.KNOWS"]) { id } }'])(
    'can be cached by its own client until the catalog expires, and then be revalidated with 304: %s',
    async (document) => {
      const { headers } = await get(document);
      const etag = headers.get('etag') ?? '';
      expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
      const caching = headers.get('cache-control') ?? '';
      const seconds = Number(/^private, max-age=(\d+)$/.exec(caching)?.[1]);
      expect(seconds).toBeGreaterThan(0);
      expect(seconds).toBeLessThanOrEqual(3600);
      expect(headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding, Origin');
      const revalidated = await get(document, { 'if-none-match': etag });
      expect(revalidated.status).toBe(304);
      expect(await revalidated.text()).toBe('');
      expect(revalidated.headers.get('etag')).toBe(etag);
      const posted = await app.query(document, { token });
      expect(posted.errors).toEqual([]);
      expect(posted.headers.get('etag')).toBeNull();
      expect(posted.headers.get('cache-control')).toBe('no-store');
    },
  );

  test('has a different ETag for other variables and for another document', async () => {
    const document = 'query ($n: Int) { instruments(first: $n) { nodes { id } } }';
    const etag = async (text: string, variables?: object) =>
      (await get(text, {}, variables)).headers.get('etag');
    const first = await etag(document, { n: 1 });
    const etags = [first, await etag(document, { n: 2 }), await etag(LIST)];
    expect(new Set(etags).size).toBe(3);
    expect(await etag(document, { n: 1 })).toBe(first);
  });

  test.each([
    '{ instruments(first: -1) { nodes { id } } }',
    '{ instruments(first: 1) { nodes { id positions { id } } } }',
    '{ instruments(first: 1) { nodes { ...Own } } } fragment Own on Instrument { id orders { id } }',
    '{ instrument(id: "AAPL") { id } customerId }',
    '{ session { login } }',
  ])('cannot be cached if it has an error or user data: %s', async (document) => {
    const { status, headers } = await get(document);
    expect(status).toBe(200);
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
  });
});

test('an ETag changes with the catalog’s copy only if the answer depends on the copy’s age', async () => {
  await using gateway = await startSandbox({ tickMs: 0 });
  const token = gateway.token({ email: 'demo@example.com' });
  const etagsOf = async (service: { readonly url: string }) => {
    const ask = (fields: string, etag = '') => {
      const query = encodeURIComponent(`{ catalog { ${fields} } }`);
      const headers = { authorization: `Bearer ${token}`, 'if-none-match': etag };
      return fetch(`${service.url}/graphql?query=${query}`, { headers });
    };
    const etags = [];
    // `stale` depends on the age of the copy.
    for (const fields of ['version', 'version stale']) {
      const etag = (await ask(fields)).headers.get('etag') ?? '';
      expect((await ask(fields, etag)).status).toBe(304);
      etags.push(etag);
    }
    return etags;
  };
  await using first = await startTestApp({}, { gateway });
  const [ofVersion, ofCopy] = await etagsOf(first);
  // The second service gets another copy of the same version.
  gateway.changeCatalog({ ageSeconds: 1_000 });
  await using second = await startTestApp({}, { gateway });
  expect(await etagsOf(second)).toEqual([ofVersion, expect.not.stringMatching(ofCopy ?? '')]);
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
  const response = await fetch(`${own.sandbox.url}/trading/tickers/standard-usd`, {
    headers: { authorization: `Bearer ${ownToken}` },
  });
  const rows = (await response.json()) as WireInstrument[];
  // The first three instruments get a value that the schema does not have.
  const statusOf = (index: number) => (index < 3 ? 'UNDER_REVIEW' : 'COMPLIANT');
  const body = rows.map((row, index) => ({ ...row, shariaStatus: statusOf(index) }));
  own.sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 200, body });
  const { data, errors } = await own.query(
    `{
      catalog { size skipped }
      all: instruments(first: 0) { totalCount }
      known: instruments(first: 0, filter: { shariaStatuses: [COMPLIANT, QUESTIONABLE, NONCOMPLIANT] }) { totalCount }
      new: instrument(id: "${rows[0]?._id}") { id shariaStatus }
    }`,
    { token: ownToken },
  );
  expect(errors).toEqual([]);
  expect(data).toEqual({
    catalog: { size: rows.length, skipped: 0 },
    all: { totalCount: rows.length },
    known: { totalCount: rows.length - 3 },
    new: { id: rows[0]?._id, shariaStatus: null },
  });
});
