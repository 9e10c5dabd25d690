import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { runCli } from '../../support/run-cli.ts';
import { inSeconds, signedToken } from '../../support/tokens.ts';
import { check, DEMO, SERVICE, startGateway, type Variables } from './run-check.ts';

const DEMO_EMAIL = 'demo@example.com';

test('a token does as well, from a file or as it is copied from a request', async () => {
  await using gateway = await startGateway();
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-check-'));
  const path = join(folder, 'token');
  writeFileSync(path, `Bearer ${gateway.token({ email: 'pro@example.com' })}\n`);
  const { code, text } = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN_FILE: path });
  rmSync(folder, { recursive: true });
  expect(text).toContain('No problem.');
  expect(code).toBe(0);
  expect(gateway.calls('login')).toBe(0);
});

test('a token that is of no use is named: expired, revoked, no JWT, or without the login', async () => {
  await using gateway = await startGateway();
  const of = async (token: string, more: Variables = {}) =>
    (await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN: token, ...more })).problems[0];
  const expired = gateway.token({ email: DEMO_EMAIL, expiresInSeconds: -60 });
  expect(await of(expired)).toMatch(/^CHECK_TOKEN {2}The token has expired/);
  const revoked = gateway.token({ email: DEMO_EMAIL });
  gateway.revoke({ token: revoked });
  expect(await of(revoked)).toMatch(/^CHECK_TOKEN {2}op 10: Status 401: the token is refused/);
  expect(await of('opaque')).toMatch(/^The token is no JWT/);
  const signed = (claims: object) =>
    signedToken({ claims: { ...claims, exp: inSeconds(60) }, secret: gateway.secret });
  const none = await of(signed({ sub: 'somebody', roles: ['a'] }));
  expect(none).toMatch(/^GATEWAY_LOGIN_CLAIM .*Its claims: sub \(string\), roles \(list\), exp/);
  const other = signed({ sub: 5, id: 12, login: 700001, group: 'standard-usd' });
  expect(await of(other, { GATEWAY_LOGIN_CLAIM: 'sub' })).toBe(
    'GATEWAY_LOGIN_CLAIM  op 10: The token names another login in the claim sub: the claim login holds the one that op 10 accepts.',
  );
});

test('no token, no e-mail, no figure of the account is printed, whatever happens', async () => {
  await using gateway = await startGateway();
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
    { operation: '*', kind: 'garbage', skip: 1 },
    { operation: '*', kind: 'redirect', headers: { location }, skip: 3 },
    { operation: 'getSession', kind: 'status', status: 200, body: session },
  ];
  let printed = '';
  for (const fault of faults) {
    gateway.clearFaults();
    if (fault) gateway.fail(fault);
    for (const run of runs) {
      for (const args of [[], ['--json']]) {
        const { text, err } = await check({ GATEWAY_URL: gateway.url, ...run }, args);
        printed += text + err.join('\n');
      }
    }
  }
  expect(printed.length).toBeGreaterThan(10_000);
  expect(canaries.filter((canary) => printed.includes(canary))).toEqual([]);
});

test('they are asked for at the console, the secret ones without an echo', async () => {
  await using gateway = await startGateway();
  const asked: string[] = [];
  const run = (replies: Variables) =>
    check({ GATEWAY_URL: gateway.url }, [], (question, options?: { isHidden: boolean }) => {
      asked.push(`${question}${options?.isHidden ? '(hidden)' : ''}`);
      return Promise.resolve(replies[question.trim()] ?? null);
    });
  const eMail = 'E-mail (none to give a token):';
  expect((await run({ [eMail]: DEMO_EMAIL, 'Password:': 'demo' })).text).toContain('No problem.');
  const token = gateway.token({ email: DEMO_EMAIL });
  expect((await run({ [eMail]: '', 'Token:': token })).text).toContain('No problem.');
  expect(asked).toEqual([`${eMail} `, 'Password: (hidden)', `${eMail} `, 'Token: (hidden)']);
});

test('without any, and without a console, it says which variables to set', async () => {
  await using gateway = await startGateway();
  const { code, out } = await runCli(['check'], { ...SERVICE, GATEWAY_URL: gateway.url });
  expect(code).toBe(1);
  expect(out).toContain('CHECK_TOKEN is unset');
  expect(gateway.calls('getOpenPositions')).toBe(1);
  const first = async (more: Variables) =>
    (await check({ GATEWAY_URL: gateway.url, ...more })).problems[0];
  expect(await first({ CHECK_EMAIL: DEMO_EMAIL })).toContain('CHECK_PASSWORD is unset');
  expect(await first({ ...DEMO, CHECK_TOKEN: 'x' })).toBe(
    'CHECK_EMAIL: must be unset where CHECK_TOKEN is set.',
  );
  expect(await first({ CHECK_TOKEN_FILE: '/none' })).toContain(
    'CHECK_TOKEN_FILE="/none": must be a file that holds CHECK_TOKEN',
  );
});

test('they are no arguments', async () => {
  const { code, err } = await check({}, ['--token', 'x']);
  expect(code).toBe(2);
  expect(err[0]).toContain('--token');
});
