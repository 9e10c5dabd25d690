import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SandboxProxy } from '../../../src/server/http/sandbox-proxy.ts';
import { statusesOf } from '../../end-to-end/chaos/raw-connection.ts';
import { startTestApp, type TestApp } from '../../support/app.ts';
import { rawRequest } from '../../support/raw-request.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

test('the sandbox’s controls are reached through the facade, from this machine', async () => {
  const token = await app.signIn();
  const fault = { operation: 'getCustomerId', kind: 'status', status: 503, times: 10 };
  const posted = await fetch(`${app.url}/sandbox/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  });
  expect(posted.ok).toBe(true);
  const { errors } = await app.query('{ customerId }', { token });
  app.sandbox.clearFaults();
  expect(errors[0]?.extensions.code).toBe('GATEWAY_UNAVAILABLE');
  const calls = await (await fetch(`${app.url}/sandbox/calls`)).json();
  expect(JSON.stringify(calls)).toContain('getCustomerId');
});

test('a page of another site cannot use them', async () => {
  const response = await fetch(`${app.url}/sandbox/calls`, {
    headers: { origin: 'https://elsewhere.example' },
  });
  expect(response.status).toBe(404);
});

test('neither can a page by DNS rebinding', async () => {
  const { port } = new URL(app.url);
  const statusWith = async (headers: Record<string, string>) =>
    (await rawRequest(`${app.url}/sandbox/requests`, { headers })).status;
  const own = ['localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]'];
  for (const host of [...own, ...own.map((name) => `${name}:${port}`)]) {
    expect(await statusWith({ host }), host).toBe(200);
  }
  for (const host of [`rebound.example:${port}`, 'localhost.example', '192.0.2.1']) {
    expect(await statusWith({ host }), host).toBe(404);
  }
});

test('a sandbox that is down is an error of this one request', async () => {
  await using own = await startTestApp();
  await own.sandbox.close();
  expect((await fetch(`${own.url}/sandbox/calls`)).status).toBe(500);
  expect((await own.query('{ __typename }')).data).toEqual({ __typename: 'Query' });
});

test.each([
  ['x-forwarded-for', '127.0.0.1'],
  ['x-forwarded-host', 'localhost'],
  ['x-forwarded-proto', 'http'],
  ['X-Forwarded-Anything', ''],
  ['forwarded', 'for=127.0.0.1'],
  ['via', '1.1 proxy'],
  ['x-real-ip', '127.0.0.1'],
])('a client behind a proxy that adds %s cannot use them either', async (name, value) => {
  const { status } = await rawRequest(`${app.url}/sandbox/calls`, { headers: { [name]: value } });
  expect(status).toBe(404);
});

describe('a path that leads out of the controls', () => {
  test.each([
    '/sandbox/../payments/client/customer-id',
    '/sandbox/%2e%2e/payments/client/customer-id',
    '/sandbox/.%2E/payments/client/customer-id',
    '/sandbox/..\\payments/client/customer-id',
    '/sandbox/\\..\\payments/client/customer-id',
    '/sandbox/..%5cpayments/client/customer-id',
    '/sandbox/..%2fpayments/client/customer-id',
    '/sandbox/faults/../../payments/client/customer-id',
    '/sandbox/faults/../calls',
    '/sandbox/./calls',
    '/sandbox//calls',
    '/sandbox/%63alls',
    '/sandbox/calls/',
  ])('is not forwarded: %s', async (path) => {
    const { port } = new URL(app.url);
    app.sandbox.clearCalls();
    const bytes = `GET ${path} HTTP/1.1\r\nhost: localhost:${port}\r\nauthorization: Bearer ${app.sandbox.token({ email: 'demo@example.com' })}\r\n\r\n`;
    // The second answer belongs to the request that closes the connection.
    expect(await statusesOf(app.url, bytes)).toEqual(['404', '200']);
    expect(app.sandbox.calls()).toBe(0);
  });
});

test('a name of this machine does not open them to a peer elsewhere', () => {
  const proxy = new SandboxProxy(app.url, { origins: [], anyLocalhost: false });
  const opensTo = (remoteAddress: string) =>
    proxy.isOpenTo({
      socket: { remoteAddress },
      headers: { host: 'localhost' },
      url: '/sandbox/calls?from=here',
    } as never);
  const own = ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'];
  expect(own.map(opensTo)).toEqual(own.map(() => true));
  const others = ['192.0.2.1', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '::ffff:127', ''];
  expect(others.map(opensTo)).toEqual(others.map(() => false));
});
