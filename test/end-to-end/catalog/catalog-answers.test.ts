import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
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
  test('may be cached until the catalog is due, by this client only', async () => {
    const response = await get(LIST);
    const { data } = await response.json();
    expect(data.instruments.nodes).toHaveLength(3);
    expect(response.headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/);
    const [, seconds] = /^private, max-age=(\d+)$/.exec(
      response.headers.get('cache-control') ?? '',
    ) ?? [null, '0'];
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThanOrEqual(3600);
    expect(response.headers.get('vary')).toBe('Authorization, Accept, Accept-Encoding, Origin');
  });

  test.each([LIST, '{ instrumentsByIds(ids: ["TSLA", "NOBODY.KNOWS"]) { id } }'])(
    'answers 304 to a client that has it cached: %s',
    async (document) => {
      const etag = (await get(document)).headers.get('etag') ?? '';
      const response = await get(document, { 'if-none-match': etag });
      expect(response.status).toBe(304);
      expect(await response.text()).toBe('');
      expect(response.headers.get('etag')).toBe(etag);
    },
  );

  test('has another ETag for other variables, another document and another version', async () => {
    const document = 'query ($n: Int) { instruments(first: $n) { nodes { id } } }';
    const etag = async (text: string, variables?: object) =>
      (await get(text, {}, variables)).headers.get('etag');
    const names = new Set([
      await etag(LIST),
      await etag(document, { n: 1 }),
      await etag(document, { n: 2 }),
    ]);
    expect(names.size).toBe(3);
    expect(await etag(document, { n: 1 })).toBe(await etag(document, { n: 1 }));
  });

  test('is never answered to a token that is not proved', async () => {
    const etag = (await get(LIST)).headers.get('etag') ?? '';
    const [header, payload] = token.split('.');
    const forged = { authorization: `Bearer ${header}.${payload}.forged`, 'if-none-match': etag };
    const response = await get(LIST, forged);
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBeNull();
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { data, errors } = await response.json();
    expect(data.instruments).toBeNull();
    expect(errors[0].extensions.code).toBe('UNAUTHENTICATED');
  });

  test('may not be cached where it has an error', async () => {
    const response = await get('{ instruments(first: -1) { nodes { id } } }');
    expect(response.headers.get('etag')).toBeNull();
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  test('has the same content compressed', async () => {
    const document = '{ catalog { instruments { id name description } } }';
    const plain = await (await get(document, { 'accept-encoding': 'identity' })).json();
    for (const encoding of ['gzip', 'br']) {
      const response = await get(document, { 'accept-encoding': encoding });
      expect(response.headers.get('content-encoding')).toBe(encoding);
      expect((await response.json()).data).toEqual(plain.data);
    }
  });
});

describe('a GET that selects something of the user', () => {
  test.each([
    '{ instruments(first: 1) { nodes { id positions { id } } } }',
    '{ instruments(first: 1) { nodes { ...Own } } } fragment Own on Instrument { id orders { id } }',
    '{ instrument(id: "AAPL") { id } customerId }',
    '{ session { login } }',
  ])('%s may not be cached', async (document) => {
    const response = await get(document);
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).toBeNull();
    expect(response.headers.get('cache-control')).toBe('no-store');
  });
});

test('a cached answer is not the answer of the next version', async () => {
  const document = '{ catalog { version instruments { id name } } }';
  await using own = await startTestApp({ CATALOG_MAX_AGE_SECONDS: '60' });
  const theirs = await own.signIn();
  const first = await own.query(document, { token: theirs });
  const again = await own.query(document, { token: theirs });
  expect(again.data).toEqual(first.data);
  expect(again.extensions.gateway).toMatchObject([{ operation: 'getAllTickers', source: 'cache' }]);
});

test('by POST nothing may be cached', async () => {
  const { headers, data } = await app.query(LIST, { token });
  expect(data.instruments.nodes).toHaveLength(3);
  expect(headers.get('etag')).toBeNull();
  expect(headers.get('cache-control')).toBe('no-store');
});
