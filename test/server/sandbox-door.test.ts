import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';
import { rawRequest } from '../support/raw-request.ts';

test('the sandbox’s controls are reached through the facade, from this machine', async () => {
  await using app = await startTestApp();
  const token = await app.signIn();
  const fault = { operation: 'getCustomerId', kind: 'status', status: 503, times: 10 };
  const told = await fetch(`${app.url}/sandbox/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(fault),
  });
  expect(told.ok).toBe(true);
  const { errors } = await app.query('{ customerId }', { token });
  expect(errors[0]?.extensions.code).toBe('GATEWAY_UNAVAILABLE');
  const calls = await (await fetch(`${app.url}/sandbox/calls`)).json();
  expect(JSON.stringify(calls)).toContain('getCustomerId');
});

test('a page of another site cannot play with them', async () => {
  await using app = await startTestApp();
  const response = await fetch(`${app.url}/sandbox/calls`, {
    headers: { origin: 'https://elsewhere.example' },
  });
  expect(response.status).toBe(404);
});

test('neither can one whose own name leads to this machine, nor whoever comes through a proxy', async () => {
  await using app = await startTestApp();
  const { port } = new URL(app.url);
  const statusWith = async (headers: Record<string, string>) =>
    (await rawRequest(`${app.url}/sandbox/requests`, { headers })).status;
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, '127.0.0.1']) {
    expect(await statusWith({ host }), host).toBe(200);
  }
  for (const host of [`rebound.example:${port}`, 'localhost.example', '192.0.2.1']) {
    expect(await statusWith({ host }), host).toBe(404);
  }
  expect(await statusWith({ 'x-forwarded-for': '192.0.2.1' })).toBe(404);
  expect(await statusWith({ forwarded: 'for=192.0.2.1' })).toBe(404);
});
