import { expect, test } from 'vitest';
import { send } from '../../support/four-transports.ts';
import { withClaims } from '../../support/tokens.ts';
import { lineOf } from '../operations/request-lines.ts';
import { seriesValue } from '../operations/scraped.ts';
import { healthy, NEWS, type SideService } from './side-service.ts';
import { useExtension } from './use-extension.ts';

const SECRET = 'k-3f0c9a';

// The program itself, from the sources or from the bundle: an extension's types enter the one schema of a process.
const { service, facade, query, tokenOf } = useExtension(
  '../../../examples/extension/graph.ts',
  (url) => ({
    GATEWAY_HEADERS: JSON.stringify({ 'x-api-key': SECRET }),
    INTROSPECTION: 'on',
    NEWS_URL: url,
  }),
);

/** The requests that come while something is done. */
async function receivedIn(work: () => Promise<unknown>) {
  const before = service.received.length;
  await work();
  return service.received.slice(before);
}

const CREATE = 'mutation { createPriceAlert(symbol: "AAPL", price: 7) { id price } }';

test('news of many instruments are one call, without the gateway’s headers and the user’s token', async () => {
  const token = tokenOf();
  const document = '{ positions { instrument { id news { id headline instrument { id } } } } }';
  const calls = await receivedIn(async () => {
    const { data, errors } = await query(document, { token });
    expect(errors).toEqual([]);
    const news = data.positions.flatMap(
      ({ instrument }: { instrument: { news: unknown[] } }) => instrument.news,
    );
    expect(news).toEqual([{ id: NEWS.id, headline: NEWS.headline, instrument: { id: 'AAPL' } }]);
  });
  expect(calls).toHaveLength(1);
  expect(calls[0]?.path).toMatch(/^\/v2\/articles\?symbols=[\w.%,]+$/);
  expect(calls[0]?.headers).not.toHaveProperty('authorization');
  expect(calls[0]?.headers).not.toHaveProperty('x-api-key');
  expect(calls[0]?.headers).not.toHaveProperty('x-forwarded-for');
  expect(calls[0]?.headers).toHaveProperty('x-request-id');
});

test('a shared field is read once for everybody, anew where it failed, and its answer is stored by no cache on the way', async () => {
  const document = '{ news(symbol: "EURUSD") { id } }';
  service.answer = () => ({ status: 404, body: { message: 'none of that name' } });
  const { errors } = await query(document);
  expect(errors[0]?.extensions).toMatchObject({
    code: 'GATEWAY_REFUSED',
    operation: 'news.articles',
    gatewayError: { message: 'none of that name' },
  });
  service.answer = healthy;
  const calls = await receivedIn(async () => {
    const [one, ...others] = await Promise.all([
      query(document, { token: tokenOf() }),
      query(document, { token: tokenOf('pro@example.com') }),
      query(document),
    ]);
    expect(one.errors).toEqual([]);
    expect(others.map(({ data }) => data)).toEqual([one.data, one.data]);
    const url = `${facade.url}/graphql?query=${encodeURIComponent(document)}`;
    expect((await fetch(url)).headers.get('cache-control')).toBe('no-store');
  });
  expect(calls).toHaveLength(1);
});

test('the other service is asked for the account that is proved, and for no other that a token claims', async () => {
  const token = tokenOf();
  const read = await receivedIn(() => query('{ priceAlerts { id } }', { token }));
  expect(read.map(({ headers }) => headers['x-account-login'])).toEqual(['700001']);
  const forged = withClaims(tokenOf('pro@example.com'), { login: '700001' });
  for (const document of ['{ priceAlerts { id } }', CREATE]) {
    for (const given of [forged, null]) {
      const calls = await receivedIn(async () => {
        const { errors } = await query(document, { token: given });
        expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED']);
      });
      expect(calls).toEqual([]);
    }
  }
});

test.each<[string, SideService['answer'], string | null, string]>([
  ['comes', healthy, null, 'ok'],
  ['breaks off', () => 'reset', 'OUTCOME_UNKNOWN', 'fault'],
  ['fails', () => ({ status: 500, body: {} }), 'OUTCOME_UNKNOWN', 'fault'],
  ['asks for a pause', () => ({ status: 429, body: {} }), 'RATE_LIMITED', 'fault'],
  ['refuses', () => ({ status: 409, body: { message: 'full' } }), 'TOO_MANY_ALERTS', 'caller'],
])(
  'a write whose answer %s is sent once with its body, and logged',
  async (what, answer, code, outcome) => {
    service.answer = answer;
    const requestId = what.replaceAll(' ', '-');
    const calls = await receivedIn(async () => {
      const headers = { 'x-request-id': requestId };
      const { data, errors } = await query(CREATE, { token: tokenOf(), headers });
      const error = { extensions: { code, retryable: code === 'RATE_LIMITED' } };
      expect(errors).toMatchObject(code === null ? [] : [error]);
      expect(data.createPriceAlert).toEqual(code === null ? { id: 'a2', price: 7 } : null);
    });
    expect(calls).toMatchObject([{ method: 'POST', path: '/alerts' }]);
    expect(JSON.parse(calls[0]?.body ?? '')).toEqual({ symbol: 'AAPL', price: 7 });
    const { outcome: logged, calls: ended } = await lineOf(facade, 'request', requestId);
    expect(logged).toBe(outcome);
    expect(ended).toContainEqual(expect.stringMatching(/^alerts\.create /));
  },
);

test('a fragment that only a query spreads stands beside a subscription', async () => {
  const document =
    'query q { news(symbol: "AAPL") { ...one } } subscription s { positions { id } } fragment one on Article { id }';
  const { errors } = await send(facade, 'POST', { query: document, operationName: 'q' });
  expect(errors).toEqual([]);
});

test('a service that fails opens a breaker of its own, and the gateway’s reads go on', async () => {
  service.answer = () => ({ status: 500, body: {} });
  const emails = ['demo@example.com', 'pro@example.com', 'fresh@example.com'];
  for (const email of [...emails, ...emails, ...emails, ...emails]) {
    const token = tokenOf(email);
    await query('{ session { id } }', { token });
    await query('{ instrument(id: "AAPL") { news { id } } }', { token });
  }
  expect(await seriesValue(facade, 'circuit_open{backend="news"}')).toBe(1);
  expect(await seriesValue(facade, 'circuit_open{backend="reads"}')).toBe(0);
  expect(await seriesValue(facade, 'circuit_open{backend="alerts"}')).toBe(0);
  const { errors } = await query(
    '{ session(maxAge: 0) { id } instrument(id: "AAPL") { news { id } } }',
    { token: tokenOf() },
  );
  expect(errors).toMatchObject([
    {
      message: 'news cannot be reached.',
      path: ['instrument', 'news'],
      extensions: { code: 'GATEWAY_UNAVAILABLE', operation: 'news.articles', retryable: true },
    },
  ]);
  const counted = 'errors_total{code="GATEWAY_UNAVAILABLE",operation="news.articles"}';
  expect(await seriesValue(facade, counted)).toBeGreaterThan(0);
});
