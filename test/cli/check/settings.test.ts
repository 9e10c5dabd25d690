import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fault } from '../../../src/sandbox/faults.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { freePort } from '../../support/free-ports.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { startTestRedis } from '../../support/redis.ts';
import { runCli } from '../../support/run-cli.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { inSeconds, signedToken } from '../../support/tokens.ts';
import { check, checkOf, DEMO, SERVICE, startGateway, type Variables } from './run-check.ts';

const DEMO_EMAIL = 'demo@example.com';

const folder = ownFolder();

test('a token is accepted from a file, and with the prefix Bearer', async () => {
  await using gateway = await startGateway();
  const path = join(folder.path, 'token');
  writeFileSync(path, `Bearer ${gateway.token({ email: 'pro@example.com' })}\n`);
  const { code, text } = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN_FILE: path });
  expect(text).toContain('No problem.');
  expect(code).toBe(0);
  expect(gateway.calls('login')).toBe(0);
});

test('a token is reported if it is expired, revoked, not a JWT, or without the login', async () => {
  await using gateway = await startGateway();
  const problemOf = async (token: string) =>
    (await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN: token })).problems[0];
  const expired = gateway.token({ email: DEMO_EMAIL, expiresInSeconds: -60 });
  expect(await problemOf(expired)).toMatch(/^CHECK_TOKEN {2}.*: the token has expired\.$/);
  const revoked = gateway.token({ email: DEMO_EMAIL });
  gateway.revoke({ token: revoked });
  expect(await problemOf(revoked)).toMatch(
    /^CHECK_TOKEN {2}op 10: Status 401, application\/json\.$/,
  );
  expect(await problemOf('opaque')).toMatch(/^CHECK_TOKEN {2}.*: the token is not a JWT\.$/);
  const signed = (claims: object) =>
    signedToken({ claims: { ...claims, exp: inSeconds(60) }, secret: gateway.secret });
  const withoutLogin = await problemOf(signed({ sub: 'somebody', roles: ['a'] }));
  expect(withoutLogin).toMatch(
    /^GATEWAY_LOGIN_CLAIM .*The claims: sub \(string\), roles \(object\), exp/,
  );
});

test('no token, e-mail or figure of the account is printed', async () => {
  await using gateway = await startGateway();
  // None of these parts of secrets and of the account's data may be printed.
  const canaries = [DEMO_EMAIL, '700001', 'standard-usd', 'cus_', '50000', 'eyJ', 'hunter2'];
  const runs: Variables[] = [
    DEMO,
    { CHECK_EMAIL: DEMO_EMAIL, CHECK_PASSWORD: 'hunter2' },
    { CHECK_TOKEN: gateway.token({ email: DEMO_EMAIL }) },
    { ...DEMO, GATEWAY_LOGIN_CLAIM: 'sub', GATEWAY_GROUP_CLAIM: 'sub' },
    { CHECK_TOKEN: 'eyJhunter2' },
    { ...DEMO, CHECK_TOKEN: 'eyJhunter2' },
  ];
  const location = 'https://example.com/700001?t=eyJ';
  const session = { login: '700001', balance: '50000', '700001': 'eyJ' };
  const faults: (Fault | null)[] = [
    null,
    { operation: '*', kind: 'garbage', login: 700001 },
    { operation: '*', kind: 'status', status: 302, headers: { location }, login: 700001 },
    { operation: 'getSession', kind: 'status', status: 200, body: session },
  ];
  let printed = '';
  for (const fault of faults) {
    gateway.clearFaults();
    if (fault) gateway.fail(fault);
    for (const run of runs) {
      const { text, err } = await check({ GATEWAY_URL: gateway.url, ...run });
      printed += text + err;
    }
  }
  expect(printed.length).toBeGreaterThan(5_000);
  expect(canaries.filter((canary) => printed.includes(canary))).toEqual([]);
});

test('without credentials the check names the variables to set', async () => {
  await using gateway = await startGateway();
  const { code, out } = await runCli(['check'], { ...SERVICE, GATEWAY_URL: gateway.url });
  expect(code).toBe(1);
  expect(out).toContain('Set CHECK_EMAIL and CHECK_PASSWORD, or CHECK_TOKEN');
  expect(gateway.calls('getOpenPositions')).toBe(1);
  const firstProblem = async (more: Variables) =>
    (await check({ GATEWAY_URL: gateway.url, ...more })).problems[0];
  const withoutPassword = await firstProblem({ CHECK_EMAIL: DEMO_EMAIL });
  expect(withoutPassword).toContain('Set CHECK_PASSWORD or CHECK_PASSWORD_FILE');
  const withBoth = await firstProblem({ ...DEMO, CHECK_TOKEN: 'x' });
  expect(withBoth).toBe('Set CHECK_EMAIL or CHECK_TOKEN, not both.');
  expect(await firstProblem({ CHECK_TOKEN_FILE: '/none' })).toContain(
    'CHECK_TOKEN_FILE="/none": must be a file that holds CHECK_TOKEN',
  );
});

test('all problems are reported at once, and the gateway is not called if its settings are wrong', async () => {
  const { code, text } = await check({
    PORT: 'x',
    GATEWAY_URL: 'ftp://example.com',
    MAX_COST: '-1',
    RATE_LIMIT_PER_MIN: '5',
    PERSISTED_DOCUMENTS: '/no/such/folder',
  });
  expect(code).toBe(1);
  expect(text).toContain('Configuration  4 problems');
  for (const name of ['PORT="x"', 'GATEWAY_URL="ftp', 'MAX_COST="-1"', 'PERSISTED_DOCUMENTS=']) {
    expect(text).toContain(`  - ${name}`);
  }
  expect(text).toContain('warning: RATE_LIMIT_PER_MIN is not a setting');
  expect(text).toContain('Gateway        not checked, because some of its settings are wrong');
});

test('the gateway is checked despite problems of other settings', async () => {
  await using gateway = await startGateway();
  const { code, text } = await checkOf(gateway, { MAX_COST: 'x' });
  expect(code).toBe(1);
  expect(text).toContain('  - MAX_COST="x"');
  expect(text).toMatch(/op 1 +GET \S+ +200/);
  expect(text).toMatch(/\n1 problem\.$/);
});

test('an unset GATEWAY_URL is reported, but is not a problem', async () => {
  const { code, text } = await check({});
  expect(code).toBe(0);
  expect(text).toContain('GATEWAY_URL is unset (--sandbox checks the sandbox gateway)');
  expect(text).toMatch(/\nThe configuration is fine\.$/);
});

test('the check creates no file of order records, but reports a path that cannot be used', async () => {
  expect((await check({ ORDER_STORE: join(folder.path, 'orders.db') })).code).toBe(0);
  expect(readdirSync(folder.path)).toEqual([]);
  writeFileSync(join(folder.path, 'file'), '');
  for (const path of ['file/orders.db', 'missing/orders.db']) {
    const { code, text } = await check({ ORDER_STORE: join(folder.path, path) });
    expect(code).toBe(1);
    expect(text).toContain('must be a file that this process can use');
  }
});

test('an unreachable Redis and key set are reported', async () => {
  await using web = await startScriptedGateway((socket) => socket.end(answer(200, { keys: [] })));
  const nowhere = `//127.0.0.1:${await freePort()}`;
  const urls = { REDIS_URL: `redis:${nowhere}`, JWT_JWKS_URL: `http:${nowhere}/keys` };
  const { code, text } = await check(urls);
  expect(code).toBe(1);
  expect(text).toContain('Configuration  2 problems');
  expect(text).toMatch(/- REDIS_URL=.*: must be a Redis that can be used \(.*cannot be reached\)/);
  expect(text).toMatch(
    /- JWT_JWKS_URL=.*: must be the address of a key set \(it cannot be fetched/,
  );
  const empty = await check({ JWT_JWKS_URL: `${web.url}/keys` });
  expect(empty.text).toMatch(/- JWT_JWKS_URL=.*\(the answer has no keys\)/);
});

test('a port in use is only a warning, because the service itself may use it', async () => {
  await using other = await startGateway();
  const { code, text } = await check({ PORT: String(other.port) });
  expect(code).toBe(0);
  expect(text).toContain(`warning: PORT=${other.port}`);
});

describeWithRedis('a Redis that may lose records', (path) => {
  test('at a restart is a problem in production, even without records', async () => {
    await using redis = await startTestRedis(path);
    const { text } = await check({ NODE_ENV: 'production', REDIS_URL: redis.url });
    expect(text).toMatch(/REDIS_URL=.* appendonly no/);
    // The check writes nothing. If it registered as a replica of the service, the service would later miss this replica.
    expect(await redis.command('DBSIZE')).toBe(0);
  });
});
