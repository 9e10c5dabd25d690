import { createHmac } from 'node:crypto';
import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { createSandboxClient, openSandbox } from './sandbox-client.ts';

const DEMO = 'demo@example.com';

test('a token is an HS256 JWT with login, group and expiry', async () => {
  await using place = await openSandbox({ secret: 'a secret of our own', tokenTtlSeconds: 600 });
  const token = place.sandbox.token({ email: DEMO });
  const { payload, protectedHeader } = await jwtVerify(
    token,
    new TextEncoder().encode('a secret of our own'),
    { currentDate: new Date(place.clock.now()) },
  );
  expect(protectedHeader).toEqual({ alg: 'HS256', typ: 'JWT' });
  expect(payload).toMatchObject({ sub: 'usr_700001', login: 700001, group: 'standard-usd' });
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(600);
});

test('two logins of one second have different tokens', async () => {
  await using place = await openSandbox();
  expect(place.sandbox.token({ email: DEMO })).not.toBe(place.sandbox.token({ email: DEMO }));
});

test('a token ends with its time', async () => {
  await using place = await openSandbox({ tokenTtlSeconds: 60 });
  const demo = place.as(DEMO);
  await place.clock.advance(59_999);
  expect((await demo.get('/trading/positions')).status).toBe(200);
  await place.clock.advance(1);
  expect((await demo.get('/trading/positions')).status).toBe(401);
});

test('claims may have other names', async () => {
  await using place = await openSandbox({ loginClaim: 'mt_login', groupClaim: 'mt_group' });
  const payload = place.sandbox.token({ email: DEMO }).split('.')[1] ?? '';
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
  expect(claims).toMatchObject({ mt_login: 700001, mt_group: 'standard-usd' });
  expect((await place.as(DEMO).get('/trading/positions')).status).toBe(200);
});

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

test('a revoked token is refused; another of the same login is not', async () => {
  await using place = await openSandbox();
  const [first, second] = [place.as(DEMO), place.as(DEMO)];
  place.sandbox.revoke({ token: first.token ?? '' });
  expect((await first.get('/trading/positions')).status).toBe(401);
  expect((await second.get('/trading/positions')).status).toBe(200);
});

test('revoking a login ends its tokens so far, not those to come', async () => {
  await using place = await openSandbox();
  const before = place.as(DEMO);
  expect((await before.get('/trading/positions')).status).toBe(200);
  place.sandbox.revoke({ login: 700001 });
  expect((await before.get('/trading/positions')).status).toBe(401);
  expect((await place.as(DEMO).get('/trading/positions')).status).toBe(200);
  expect((await place.as('pro@example.com').get('/trading/positions')).status).toBe(200);
});

test('load users are created when one signs in', async () => {
  await using place = await openSandbox();
  const { body } = await place.anonymous.post('/auth/login', {
    email: 'user-4711@example.com',
    password: 'demo',
  });
  const { access_token: token } = body as { access_token: string };
  const user = createSandboxClient(place.sandbox, token, 804711);
  expect((await user.session()).login).toBe(804711);
  expect(await user.positions()).toHaveLength(5);
  for (const email of ['user-0@example.com', 'user-100000@example.com', 'user-1a@example.com']) {
    const answer = await place.anonymous.post('/auth/login', { email, password: 'demo' });
    expect(answer.status, email).toBe(404);
  }
});

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function sign(header: object, payload: string, secret: string): string {
  const body = `${encode(header)}.${payload}`;
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}
