import { gunzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { BEFORE_TOKEN, TOKEN_HEADER } from '../../../src/gateway/operations/conventions.ts';
import { SESSION } from '../../../src/gateway/operations/get-session.ts';
import { SandboxProxy } from '../../../src/sandbox/page/sandbox-proxy.ts';
import { statusesOf } from '../../end-to-end/chaos/raw-connection.ts';
import { startTestApp } from '../../support/app.ts';
import { pathOf } from '../../support/ask-gateway.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
beforeEach(() => app.sandbox.clearCalls());

const GATEWAY = '/sandbox/gateway';
const SESSION_PATH = GATEWAY + pathOf('getSession');
const bearer = () => ({
  [TOKEN_HEADER]: `${BEFORE_TOKEN}${app.sandbox.token({ email: 'demo@example.com' })}`,
});

test('with CORS_ORIGINS only the server’s own page reaches the controls', async () => {
  await using own = await startTestApp({ CORS_ORIGINS: 'https://app.example.com' });
  const statusFrom = async (origin: string) =>
    (await rawRequest(`${own.url}/sandbox/calls`, { headers: { origin } })).status;
  expect(await statusFrom(own.url)).toBe(200);
  expect(await statusFrom('http://localhost:1')).toBe(404);
  // Without the sandbox the controls fail, and queries are answered.
  await own.sandbox.close();
  expect(await statusFrom(own.url)).toBe(500);
  expect((await own.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test('the controls are closed in production, and to a proxy with HTTP/1.0', async () => {
  await using production = await startTestApp({ NODE_ENV: 'production', SANDBOX: 'on' });
  for (const path of ['/sandbox/calls', SESSION_PATH]) {
    expect((await rawRequest(production.url + path, { headers: bearer() })).status).toBe(404);
    const old = `GET ${path} HTTP/1.0\r\nhost: ${new URL(app.url).host}\r\n\r\n`;
    expect(await statusesOf(app.url, old)).toContain('404');
  }
});

test.each([
  [{ origin: 'https://elsewhere.example' }],
  [{ host: 'rebound.example' }],
  [{ host: 'localhost.example' }],
  [{ 'X-Forwarded-Anything': '' }],
  [{ forwarded: 'for=127.0.0.1' }],
  [{ via: '1.1 proxy' }],
  [{ 'x-real-ip': '127.0.0.1' }],
])(
  'pages of other sites, DNS rebinding and clients behind a proxy cannot reach the controls: %j',
  async (headers) => {
    for (const path of ['/sandbox/calls', SESSION_PATH]) {
      const { status } = await rawRequest(app.url + path, { headers: { ...bearer(), ...headers } });
      expect(status, path).toBe(404);
    }
    expect(app.sandbox.calls()).toBe(0);
  },
);

test.each([
  '/sandbox/../payments/client/customer-id',
  '/sandbox/%2e%2e/payments/client/customer-id',
  '/sandbox/\\..\\payments/client/customer-id',
  '/sandbox/..%2fpayments/client/customer-id',
  '/sandbox//calls',
  '/sandbox/%63alls',
  '/sandbox/gateway/sandbox/calls',
  '/sandbox/gateway/trading/../sandbox/calls',
  '/sandbox/gateway/trading/%2e%2e/sandbox/calls',
  '/sandbox/gateway',
])('a path that leaves the controls or the operations is not forwarded: %s', async (path) => {
  const { host } = new URL(app.url);
  const bytes = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${TOKEN_HEADER}: ${bearer()[TOKEN_HEADER]}\r\n\r\n`;
  // The second answer belongs to the request that closes the connection.
  expect(await statusesOf(app.url, bytes)).toEqual(['404', '200']);
  expect(app.sandbox.calls()).toBe(0);
});

test('answers of the gateway’s operations are passed on unchanged, and a reset becomes a 502', async () => {
  const headers = { ...bearer(), 'accept-encoding': 'gzip', 'x-request-id': 'session-17' };
  const session = await rawRequest(app.url + SESSION_PATH, { headers });
  expect(session.headers['x-request-id']).toBe('session-17');
  const { login, group } = SESSION.names;
  expect(JSON.parse(session.text)).toMatchObject({ [login]: 700001, [group]: 'standard-usd' });
  const catalogOf = (path: string) => rawRequest(`${app.url}${GATEWAY}${path}`, { headers });
  const catalog = await catalogOf(pathOf('getAllTickers'));
  expect(catalog.headers['content-encoding']).toBe('gzip');
  expect(catalog.headers.vary).toContain('Origin');
  expect(Number(catalog.headers['content-length'])).toBe(catalog.bytes.length);
  expect(JSON.parse(String(gunzipSync(catalog.bytes)))).toHaveLength(500);
  const encoded = await catalogOf(`${pathOf('getAllTickers', { group: 'a\\b c' })}?x=1`);
  expect(JSON.parse(encoded.text)).toMatchObject({ details: { group: 'a\\b c' } });
  app.sandbox.fail({ operation: 'getSession', kind: 'reset-before', times: 1 });
  const { status } = await rawRequest(app.url + SESSION_PATH, { headers: bearer() });
  expect(status).toBe(502);
  expect(app.logged.filter((line) => line.includes('a fault of'))).toEqual([]);
});

test('controls and operations answer a body that is too large with 413', async () => {
  const body = 'x'.repeat(8_000_000);
  const wallet = `gateway${pathOf('addCryptoWallet')}`;
  for (const path of ['faults', wallet]) {
    const answer = await fetch(`${app.url}/sandbox/${path}`, { method: 'POST', body });
    expect([path, answer.status]).toEqual([path, 413]);
  }
  expect(app.logged.filter((line) => line.includes('a fault of'))).toEqual([]);
});

test('a local Host does not open the controls to a remote peer', () => {
  const proxy = new SandboxProxy({
    gatewayUrl: app.url,
    origins: { origins: [], anyLocalhost: false },
  });
  const request = { headers: { host: 'localhost' }, url: '/sandbox/calls?from=here' };
  const isOpenTo = (remoteAddress: string) =>
    proxy.isOpenTo({ ...request, socket: { remoteAddress } } as never);
  const own = ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'];
  expect(own.filter(isOpenTo)).toEqual(own);
  const others = ['192.0.2.1', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '::ffff:127', ''];
  expect(others.filter(isOpenTo)).toEqual([]);
});
