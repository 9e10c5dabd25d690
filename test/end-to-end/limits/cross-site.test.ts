import { describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { inParallel } from '../../support/in-parallel.ts';
import { limited } from '../../support/limits.ts';
import { type RawAnswer, rawPost, rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';
import { openSocket } from '../live/raw-socket.ts';
import { codesOf } from './every-transport.ts';

const OURS = 'https://app.example.com';
const NOT_OURS = [
  'https://app.example.com.evil.example',
  'https://evil-app.example.com',
  'https://sub.app.example.com',
  'http://app.example.com',
  'https://app.example.com:8443',
  'https://APP.example.com',
  'http://localhost:3000',
  'null',
  'https://evil.example',
  '*',
];

/** The headers that pages may send. */
const ALLOWED = [
  'authorization',
  'content-type',
  'x-request-id',
  'apollographql-client-name',
  'apollographql-client-version',
  'traceparent',
  'tracestate',
  'baggage',
  'sentry-trace',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-apollo-operation-id',
];

const OTHER_SITE = 'https://evil.example';
const WRITE = 'mutation { setValue(input: { key: "k", value: 1 }) { __typename } }';

const app = sharedApp({
  CORS_ORIGINS: `${OURS},capacitor://localhost`,
  GATEWAY_FORWARD_HEADERS: 'X-Tenant',
  TRUSTED_PROXIES: '127.0.0.1',
  GRAPHIQL: 'off',
});
/** A service without CORS_ORIGINS. */
const local = sharedApp();

const QUERY = `/graphql?query=${encodeURIComponent('{ positions { id } }')}`;

const CROSS_SITE = { 'sec-fetch-site': 'cross-site' };
const PROXY_HEADERS = {
  'x-forwarded-for': '192.0.2.1',
  'x-request-id': 'of-a-proxy',
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  'x-apollo-operation': 'not-one-of-apollos',
};

const get = (headers: Record<string, string>, path = QUERY, method = 'GET') =>
  rawRequest(`${app.url}${path}`, { method, headers });

/** Expects status 403, and no gateway call, rate limit or log line. Returns the body, which is empty for HEAD. */
async function expectRefused(ask: () => Promise<RawAnswer>): Promise<string> {
  app.sandbox.clearCalls();
  const lines = app.logged.length;
  const { status, text, headers } = await ask();
  expect(status).toBe(403);
  if (text !== '') expect(codesOf(JSON.parse(text))).toEqual(['FORBIDDEN']);
  expect(headers['access-control-allow-origin']).toBeUndefined();
  expect(headers.ratelimit).toBeUndefined();
  expect(app.sandbox.calls()).toBe(0);
  expect(app.logged.slice(lines)).toEqual([]);
  return text;
}

describe('a request is refused if a page of another site can send it without a preflight:', () => {
  test.each<[string, Record<string, string>]>([
    ['marked as cross-site by the browser', CROSS_SITE],
    ['an image or a script', { ...CROSS_SITE, 'sec-fetch-mode': 'no-cors', accept: 'image/*' }],
    ['a navigation', { ...CROSS_SITE, 'sec-fetch-mode': 'navigate', accept: 'text/html' }],
    ['an event stream', { ...CROSS_SITE, accept: 'text/event-stream' }],
    ['with only an Origin, as from an older browser', { origin: OTHER_SITE }],
    ['an opaque origin', { origin: 'null' }],
    ['a page of another subdomain', { origin: OTHER_SITE, 'sec-fetch-site': 'same-site' }],
    ['headers that proxies add to any request', { ...CROSS_SITE, ...PROXY_HEADERS }],
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
    for (const site of [CROSS_SITE, { origin: OTHER_SITE }]) {
      const headers = { ...site, ...(type && { 'content-type': type }) };
      const text = await expectRefused(() =>
        rawRequest(`${app.url}/graphql`, { method: 'POST', headers, body }),
      );
      expect(JSON.parse(text).errors[0].extensions.sent).toBe(false);
    }
  });
});

describe('these requests are answered:', () => {
  test.each<[string, Record<string, string>]>([
    ['a client that is not a browser', {}],
    ['an address typed by its user', { 'sec-fetch-site': 'none' }],
    ['a page of the service', { 'sec-fetch-site': 'same-origin' }],
    [
      'a page of the service, behind a proxy that rewrites Host',
      { 'sec-fetch-site': 'same-origin', origin: 'https://trade.example.com' },
    ],
    ['a page of a sibling domain without an origin', { 'sec-fetch-site': 'same-site' }],
    ['an origin of CORS_ORIGINS', { ...CROSS_SITE, origin: OURS }],
    ['a web view of CORS_ORIGINS', { ...CROSS_SITE, origin: 'capacitor://localhost' }],
    ...['apollo-require-preflight', 'x-apollo-operation-name', 'apollographql-client-name'].map(
      (name): [string, Record<string, string>] => [
        `a request preflighted for ${name}`,
        { ...CROSS_SITE, origin: OTHER_SITE, [name]: 'x' },
      ],
    ),
    ['a request preflighted for its token', { ...CROSS_SITE, authorization: 'Bearer x' }],
    ['a request preflighted for its type', { origin: 'null', 'content-type': 'application/json' }],
  ])('%s', async (_what, headers) => {
    const answer = await get(headers, '/graphql?query={__typename}');
    expect(answer.status).toBe(200);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
  });
});

test('requests of another site’s page do not use up the limits of the visitor’s address', async () => {
  const limits = { ...limited('requests', 20), ...limited('messages', 100) };
  await using own = await startTestApp({ TRUSTED_PROXIES: '127.0.0.1' }, { limits });
  const address = { 'x-forwarded-for': '192.0.2.77' };
  // The page sends more requests than the address's limits of requests and of messages allow.
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
  // Refused requests of other sites have a budget of their own. Beyond that budget the status is 429.
  const others = answers.filter(({ status }) => status !== 429);
  expect(new Set(others.map(({ status }) => status))).toEqual(new Set([403]));
});

const BODY = JSON.stringify({ query: '{ __typename }' });

async function allowedOrigin(app: TestApp, origin: string): Promise<string | undefined> {
  const { headers, status } = await rawPost(`${app.url}/graphql`, BODY, { origin });
  expect(status).toBe(200);
  return headers['access-control-allow-origin'];
}

describe('an answer', () => {
  test('can be read by pages of exactly the listed origins', async () => {
    const { headers } = await rawPost(`${app.url}/graphql`, BODY, { origin: OURS });
    expect(headers['access-control-allow-origin']).toBe(OURS);
    const exposed = 'date, x-request-id, retry-after, ratelimit';
    expect(headers['access-control-expose-headers']).toBe(exposed);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    for (const origin of NOT_OURS) expect(await allowedOrigin(app, origin), origin).toBeUndefined();
  });

  test('can be read by any local page in sandbox mode if no origins are listed', async () => {
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1', 'http://[::1]:5173']) {
      expect(await allowedOrigin(local, origin)).toBe(origin);
    }
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      expect(await allowedOrigin(local, origin), origin).toBeUndefined();
    }
  });
});

describe('a preflight', () => {
  const requested = {
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization,content-type',
  };
  const ask = (origin: string) =>
    rawRequest(`${app.url}/graphql`, { method: 'OPTIONS', headers: { origin, ...requested } });

  test('of a listed origin gets the allowed methods and headers', async () => {
    const { status, headers, text } = await ask(OURS);
    expect([status, text]).toEqual([204, '']);
    expect(headers['access-control-allow-origin']).toBe(OURS);
    expect(headers['access-control-allow-methods']).toBe('GET, POST, OPTIONS');
    expect(headers['access-control-allow-headers']?.split(', ')).toEqual([...ALLOWED, 'x-tenant']);
    expect(headers['access-control-max-age']).toBe('600');
    expect(headers.vary).toContain('Origin');
  });

  test('of any other origin gets no permission', async () => {
    for (const origin of NOT_OURS) {
      const { headers } = await ask(origin);
      expect(headers['access-control-allow-origin'], origin).toBeUndefined();
    }
  });
});

describe('a WebSocket', () => {
  const INCOMPLETE = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
  const UPGRADE = { ...INCOMPLETE, 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };

  /** Returns the status of the upgrade. */
  const connect = async (app: Pick<TestApp, 'webSocketUrl'>, headers: Record<string, string>) => {
    try {
      using _socket = await openSocket(app, undefined, { headers });
      return 101;
    } catch (error) {
      return Number(/\d{3}/.exec(String(error)));
    }
  };

  test('opens for listed origins, this host’s own pages and apps without an origin', async () => {
    expect(await connect(app, { origin: OURS })).toBe(101);
    expect(await connect(app, { origin: app.url })).toBe(101);
    expect(await connect(app, {})).toBe(101);
    expect(await connect(local, { origin: 'http://localhost:3000' })).toBe(101);
    const otherPath = { webSocketUrl: app.webSocketUrl.replace('/graphql', '/nope') };
    expect(await connect(otherPath, {})).toBe(404);
  });

  test('of any other origin is refused in JSON, with one log line for all refusals of a minute', async () => {
    for (const origin of NOT_OURS) expect(await connect(app, { origin }), origin).toBe(403);
    const refusal = await rawRequest(`${app.url}/graphql`, {
      headers: { ...UPGRADE, origin: NOT_OURS[0] },
    });
    expect(refusal.headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(refusal.text)).toMatchObject({
      errors: [
        { message: expect.stringMatching(/CORS_ORIGINS\.$/), extensions: { code: 'FORBIDDEN' } },
      ],
    });
    const lines = app.logged.map((line) => JSON.parse(line));
    const foreign = lines.filter(({ msg }) => msg === 'a WebSocket of another site was refused');
    const { host } = new URL(app.url);
    expect(foreign).toMatchObject([{ level: 'warn', origin: NOT_OURS[0], host }]);
    expect(await connect(local, { origin: 'https://evil.example' })).toBe(403);
  });

  test('with incomplete upgrade headers, as from a misconfigured proxy, is refused', async () => {
    expect((await rawRequest(`${app.url}/graphql`, { headers: INCOMPLETE })).status).toBe(400);
  });
});
