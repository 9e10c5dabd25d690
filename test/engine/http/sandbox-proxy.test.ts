import { gunzipSync } from 'node:zlib';
import { beforeEach, describe, expect, test } from 'vitest';
import { SandboxProxy } from '../../../sandbox/page/sandbox-proxy.ts';
import { statusesOf } from '../../end-to-end/chaos/raw-connection.ts';
import { startTestApp } from '../../support/app.ts';
import { rawRequest } from '../../support/raw-request.ts';
import { sharedApp } from '../../support/shared-app.ts';

const app = sharedApp();
beforeEach(() => app.sandbox.clearCalls());

const GATEWAY_PATH = '/sandbox/gateway/trading/session/700001';
const bearer = () => ({
  authorization: `Bearer ${app.sandbox.token({ email: 'demo@example.com' })}`,
});

test('the sandbox’s controls are reached through the facade, from this machine', async () => {
  const token = await app.signIn();
  const fault = { operation: 'getCustomerId', kind: 'status', status: 503, times: 10 };
  const posted = await fetch(`${app.url}/sandbox/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': 'fault-17' },
    body: JSON.stringify(fault),
  });
  expect(posted.ok).toBe(true);
  expect(posted.headers.get('x-request-id')).toBe('fault-17');
  const { errors } = await app.query('{ customerId }', { token });
  app.sandbox.clearFaults();
  expect(errors[0]?.extensions.code).toBe('GATEWAY_UNAVAILABLE');
  const calls = await (await fetch(`${app.url}/sandbox/calls`)).json();
  expect(JSON.stringify(calls)).toContain('getCustomerId');
});

test('the graph tells its own events, retries and breakers there', async () => {
  const read = async () => (await fetch(`${app.url}/sandbox/graph`)).json();
  const { event, retry, change } = await read();
  expect(event).toEqual({ sent: expect.any(Number) });
  expect(change).toMatchObject({ reads: 0 });
  const token = await app.signIn();
  app.sandbox.fail({ operation: 'getCustomerId', kind: 'status', status: 503, times: 1 });
  await app.query('{ customerId }', { token });
  expect((await read()).retry.getCustomerId).toBe(retry.getCustomerId + 1);
});

test('the server’s own page can, whatever other origins are allowed', async () => {
  await using own = await startTestApp({ CORS_ORIGINS: 'https://app.example.com' });
  const statusFrom = async (origin: string) =>
    (await rawRequest(`${own.url}/sandbox/calls`, { headers: { origin } })).status;
  expect(await statusFrom(own.url)).toBe(200);
  expect(await statusFrom('http://localhost:1')).toBe(404);
});

test.each([
  [{ origin: 'https://elsewhere.example' }],
  [{ host: 'rebound.example' }],
  [{ host: 'localhost.example' }],
  [{ 'x-forwarded-for': '127.0.0.1' }],
  [{ 'X-Forwarded-Anything': '' }],
  [{ forwarded: 'for=127.0.0.1' }],
  [{ via: '1.1 proxy' }],
  [{ 'x-real-ip': '127.0.0.1' }],
])(
  'pages of other sites, DNS rebinding and clients behind a proxy get none: %j',
  async (headers) => {
    for (const path of ['/sandbox/calls', '/sandbox/graph', GATEWAY_PATH]) {
      const { status } = await rawRequest(app.url + path, { headers: { ...bearer(), ...headers } });
      expect(status, path).toBe(404);
    }
    expect(app.sandbox.calls()).toBe(0);
  },
);

test('a sandbox that is down is an error of this one request', async () => {
  await using own = await startTestApp();
  await own.sandbox.close();
  expect((await fetch(`${own.url}/sandbox/calls`)).status).toBe(500);
  expect((await own.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test.each([
  '/sandbox/../payments/client/customer-id',
  '/sandbox/%2e%2e/payments/client/customer-id',
  '/sandbox/\\..\\payments/client/customer-id',
  '/sandbox/..%2fpayments/client/customer-id',
  '/sandbox/faults/../calls',
  '/sandbox//calls',
  '/sandbox/%63alls',
  '/sandbox/calls/',
  '/sandbox/gateway/sandbox/calls',
  '/sandbox/gateway/trading/../sandbox/calls',
  '/sandbox/gateway/trading/%2e%2e/sandbox/calls',
  '/sandbox/gateway/..\\sandbox/calls',
  '/sandbox/gateway',
])(
  'a path that leads out of the controls, or out of the operations, is not forwarded: %s',
  async (path) => {
    const { host } = new URL(app.url);
    const bytes = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${bearer().authorization}\r\n\r\n`;
    // The second answer belongs to the request that closes the connection.
    expect(await statusesOf(app.url, bytes)).toEqual(['404', '200']);
    expect(app.sandbox.calls()).toBe(0);
  },
);

describe('the gateway’s own operations', () => {
  test('are reached as the gateway answers them', async () => {
    const headers = { ...bearer(), 'accept-encoding': 'gzip' };
    const session = await rawRequest(app.url + GATEWAY_PATH, { headers });
    expect(JSON.parse(session.text)).toMatchObject({ login: 700001, group: 'standard-usd' });
    const catalog = await rawRequest(`${app.url}/sandbox/gateway/trading/tickers/standard-usd`, {
      headers,
    });
    expect(catalog.headers['content-encoding']).toBe('gzip');
    expect(Number(catalog.headers['content-length'])).toBe(catalog.bytes.length);
    expect(JSON.parse(String(gunzipSync(catalog.bytes)))).toHaveLength(500);
    const encoded = await rawRequest(`${app.url}/sandbox/gateway/trading/tickers/a%5Cb%20c?x=1`, {
      headers,
    });
    expect(JSON.parse(encoded.text)).toMatchObject({ details: { group: 'a\\b c' } });
  });

  test('that are reset are a bad gateway, and no error of the facade', async () => {
    app.sandbox.fail({ operation: 'getSession', kind: 'reset-before', times: 1 });
    const { status } = await rawRequest(app.url + GATEWAY_PATH, { headers: bearer() });
    expect(status).toBe(502);
    app.sandbox.fail({ operation: 'getSession', kind: 'cut', times: 1 });
    await expect(rawRequest(app.url + GATEWAY_PATH, { headers: bearer() })).rejects.toThrow();
    expect(app.logged.filter((line) => line.includes('a request failed'))).toEqual([]);
  });

  test('are not there in production', async () => {
    await using own = await startTestApp({ NODE_ENV: 'production', SANDBOX: 'on' });
    const { status } = await rawRequest(own.url + GATEWAY_PATH, { headers: bearer() });
    expect(status).toBe(404);
    expect((await fetch(`${own.url}/sandbox/calls`)).status).toBe(200);
  });
});

test('another edition of the catalog is read at once', async () => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const versionOf = async () =>
    (await app.query('{ catalog { version stale } }', { token })).data.catalog;
  const { version } = await versionOf();
  await fetch(`${app.url}/sandbox/catalog`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ change: 3 }),
  });
  const now = await versionOf();
  expect(now).toEqual({ version: expect.any(String), stale: false });
  expect(now.version).not.toBe(version);
  const changes = await app.query(
    `{ catalog { changes(since: "${version}") { reset upserted { id } } } }`,
    { token },
  );
  expect(changes.data.catalog.changes).toMatchObject({ reset: false });
  expect(changes.data.catalog.changes.upserted).toHaveLength(3);
});

test('another catalog is read at once, however small it is; an edition that lacks most of one is kept out', async () => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const post = (path: string, body: object) =>
    fetch(`${app.url}/sandbox/${path}`, { method: 'POST', body: JSON.stringify(body) });
  const size = async () =>
    (await app.query('{ catalog { size } }', { token })).data.catalog.size as number;
  for (const wanted of [3_000, 200, 500]) {
    expect((await post('catalog/size', { size: wanted })).status).toBe(200);
    expect(await size()).toBe(wanted);
  }
  await post('catalog', { remove: 400 });
  expect(await size()).toBe(500);
  await post('reset', {});
  expect(await size()).toBe(500);
});

test('nothing else that is done with the controls has the catalog read again', async () => {
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const read = () => app.query('{ catalog { version } }', { token });
  await read();
  app.sandbox.clearCalls();
  expect((await fetch(`${app.url}/sandbox/calls`)).status).toBe(200);
  const refused = await fetch(`${app.url}/sandbox/catalog`, { method: 'POST', body: 'none' });
  expect(refused.status).toBe(400);
  await read();
  expect(app.sandbox.calls('getAllTickers')).toBe(0);
});

test('a name of this machine does not open them to a peer elsewhere', () => {
  const proxy = new SandboxProxy({
    gatewayUrl: app.url,
    origins: { origins: [], anyLocalhost: false },
    offersGateway: true,
    onCatalogChange: () => {},
    graphFigures: async () => ({}),
  });
  const opensTo = (remoteAddress: string) =>
    proxy.route(
      {
        socket: { remoteAddress },
        headers: { host: 'localhost' },
        url: '/sandbox/calls?from=here',
      } as never,
      '/sandbox/calls',
    ) !== null;
  const own = ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
  expect(own.map(opensTo)).toEqual(own.map(() => true));
  const others = ['192.0.2.1', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '::ffff:127', ''];
  expect(others.map(opensTo)).toEqual(others.map(() => false));
});
