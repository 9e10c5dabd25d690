import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { createSandboxClient, openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';

test('a forged token opens nothing', async () => {
  await using place = await openSandbox();
  const forged = place.sandbox.token({ email: DEMO, signature: 'forged' });
  const unsigned = `${encode({ alg: 'none' })}.${forged.split('.')[1]}.`;
  const genuine = place.sandbox.token({ email: 'fresh@example.com' }).split('.');
  const swapped = [genuine[0], forged.split('.')[1], genuine[2]].join('.');
  const otherAlgorithm = sign({ alg: 'HS512' }, forged.split('.')[1] ?? '', place.sandbox.secret);
  for (const token of [forged, unsigned, swapped, otherAlgorithm, 'a.b.c', '..', 'x', '{}']) {
    const thief = createSandboxClient(place.sandbox, token, 700001);
    expect((await thief.get('/trading/positions')).status, token).toBe(401);
  }
});

test('a token whose payload is no object of ours opens nothing', async () => {
  await using place = await openSandbox();
  const { secret } = place.sandbox;
  const claims = [
    null,
    [],
    7,
    { login: 'x', group: 'standard-usd', exp: 9e9 },
    { login: 700001, exp: 9e9 },
    { login: 700001, group: 'standard-usd' },
    { login: 42, group: 'standard-usd', exp: 9e9 },
  ];
  for (const claim of claims) {
    const token = sign({ alg: 'HS256', typ: 'JWT' }, encode(claim), secret);
    const client = createSandboxClient(place.sandbox, token, 700001);
    expect((await client.get('/trading/positions')).status, JSON.stringify(claim)).toBe(401);
  }
});

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function sign(header: object, payload: string, secret: string): string {
  const body = `${encode(header)}.${payload}`;
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}
