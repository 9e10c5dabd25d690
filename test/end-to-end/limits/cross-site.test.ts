import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../support/app.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { limited } from '../../support/limits.ts';
import { type RawAnswer, rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { moved } from '../operations/scraped.ts';
import { codesOf } from './every-transport.ts';

const STRANGER = 'https://evil.example';
const WRITE = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';

const app = sharedApp({
  CORS_ORIGINS: 'https://app.example.com,capacitor://localhost',
  TRUSTED_PROXIES: '127.0.0.1',
  GRAPHIQL: 'off',
});

const QUERY = `/graphql?query=${encodeURIComponent('{ positions { id } }')}`;
const EXPOSED = { authorization: 'Bearer x' };
const CROSS_SITE = { 'sec-fetch-site': 'cross-site' };

const get = (headers: Record<string, string>, path = QUERY, method = 'GET') =>
  rawRequest(`${app.url}${path}`, { method, headers });

async function expectRefused(ask: () => Promise<RawAnswer>): Promise<void> {
  app.sandbox.clearCalls();
  const lines = app.logged.length;
  await moved(app, 'cross_site_refused_total', 1, async () => {
    const { status, text, headers } = await ask();
    expect(status).toBe(403);
    expect(codesOf(JSON.parse(text || '{"errors":[{"extensions":{"code":"FORBIDDEN"}}]}'))).toEqual(
      ['FORBIDDEN'],
    );
    expect(headers['access-control-allow-origin']).toBeUndefined();
    expect(headers.ratelimit).toBeUndefined();
  });
  expect(app.sandbox.calls()).toBe(0);
  expect(app.logged.slice(lines)).toEqual([]);
}

describe('what a page of another site makes a browser send without a preflight is refused:', () => {
  test.each<[string, Record<string, string>]>([
    ['that the browser says so', CROSS_SITE],
    ['an image or a script', { ...CROSS_SITE, 'sec-fetch-mode': 'no-cors', accept: 'image/*' }],
    ['a navigation', { ...CROSS_SITE, 'sec-fetch-mode': 'navigate', accept: 'text/html' }],
    ['an event stream', { ...CROSS_SITE, accept: 'text/event-stream' }],
    ['an older browser’s foreign origin', { origin: STRANGER }],
    ['an opaque origin', { origin: 'null' }],
    ['a page of another subdomain', { origin: STRANGER, 'sec-fetch-site': 'same-site' }],
    [
      'headers that proxies add to any request',
      {
        ...CROSS_SITE,
        'x-forwarded-for': '192.0.2.1',
        'x-request-id': 'of-a-proxy',
        traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
        'x-apollo-operation': 'not-one-of-apollos',
      },
    ],
  ])('a GET, %s', async (_what, headers) => {
    await expectRefused(() => get(headers));
    await expectRefused(() => get(headers, QUERY, 'HEAD'));
  });

  test.each([
    ['application/x-www-form-urlencoded', new URLSearchParams({ query: WRITE }).toString()],
    ['text/plain', JSON.stringify({ query: WRITE })],
    ['Text/Plain ;charset=utf-8', JSON.stringify({ query: WRITE })],
    ['text/plain; application/json', JSON.stringify({ query: WRITE })],
    [
      'multipart/form-data; boundary=x',
      '--x\r\ncontent-disposition: form-data; name="query"\r\n\r\n{ __typename }\r\n--x--',
    ],
    ['', JSON.stringify({ query: WRITE })],
  ])('a POST of %s', async (type, body) => {
    for (const site of [CROSS_SITE, { origin: STRANGER }]) {
      const headers = { ...site, ...(type && { 'content-type': type }) };
      await expectRefused(() =>
        rawRequest(`${app.url}/graphql`, { method: 'POST', headers, body }),
      );
    }
  });
});

describe('answered is', () => {
  test.each<[string, Record<string, string>]>([
    ['a client that is no browser', {}],
    ['what its user has typed', { 'sec-fetch-site': 'none' }],
    ['a page of the service', { 'sec-fetch-site': 'same-origin' }],
    [
      'a page of the service, behind a proxy that rewrites Host',
      { 'sec-fetch-site': 'same-origin', origin: 'https://trade.example.com' },
    ],
    ['a page of a sibling, which has sent no origin', { 'sec-fetch-site': 'same-site' }],
    ['an origin of CORS_ORIGINS', { ...CROSS_SITE, origin: 'https://app.example.com' }],
    ['a web view of CORS_ORIGINS', { ...CROSS_SITE, origin: 'capacitor://localhost' }],
    ...['apollo-require-preflight', 'x-apollo-operation-name', 'apollographql-client-name'].map(
      (name): [string, Record<string, string>] => [
        `what ${name} has let be preflighted`,
        { ...CROSS_SITE, origin: STRANGER, [name]: 'x' },
      ],
    ),
    ['what a token has let be preflighted', { ...CROSS_SITE, ...EXPOSED }],
    [
      'what its type has let be preflighted',
      { origin: 'null', 'content-type': 'application/json' },
    ],
  ])('%s', async (_what, headers) => {
    const answer = await get(headers, '/graphql?query={__typename}');
    expect(answer.status).toBe(200);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });

  test('JSON by POST, which a browser asks leave for', async () => {
    const answer = await rawPost(`${app.url}/graphql`, '{"query":"{ __typename }"}', {
      origin: STRANGER,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

test('a page of another site uses up nothing of its visitor’s address', async () => {
  const limits = { ...limited('requests', 20), ...limited('messages', 100) };
  await using own = await startTestApp({ TRUSTED_PROXIES: '127.0.0.1' }, { limits });
  const address = { 'x-forwarded-for': '192.0.2.77' };
  // More than an address may ask in a minute, and than its budget of messages.
  const answers = await inParallel(130, 8, () => {
    const headers = { ...CROSS_SITE, ...address };
    return rawRequest(`${own.url}${QUERY}`, { headers });
  });
  const { errors, data } = await own.query(
    'mutation { login(input: { email: "demo@example.com", password: "demo" }) { __typename } }',
    { headers: address },
  );
  expect(errors).toEqual([]);
  expect(data.login.__typename).toBe('LoginSuccess');
  // Beyond a budget of their own they are told that there are too many.
  const others = answers.filter(({ status }) => status !== 429);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([403]));
});
