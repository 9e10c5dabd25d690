import { expect, test } from 'vitest';
import { startTestApp } from '../support/app.ts';

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
