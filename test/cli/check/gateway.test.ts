import { expect, test } from 'vitest';
import { READ_NAMES } from '../../../src/gateway/operations.ts';
import type { CatalogChange } from '../../../src/sandbox/catalog.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { SandboxOptions } from '../../../src/sandbox/start.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { runCli } from '../../support/run-cli.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { check, checkOf, SERVICE, startGateway, type Variables } from './run-check.ts';

test('a gateway that follows the documented interface has no problem, and nothing is written to it', async () => {
  await using gateway = await startGateway();
  const { code, text, err } = await checkOf(gateway);
  expect([code, err]).toEqual([0, '']);
  expect(text).toContain('Configuration  fine');
  expect(text).toMatch(
    /op 10 +GET \/trading\/session\/\{login\} +200 +\d+ ms +72 of 72 fields as described/,
  );
  expect(text).toMatch(/\nNo problem\.$/);
  const called = new Set(gateway.requests().map(({ operation }) => operation));
  expect(called).toEqual(new Set([...READ_NAMES, 'login']));
  expect(gateway.calls('login')).toBe(1);
  expect(gateway.orders()).toEqual([]);
});

test('the sandbox itself can be checked, with a report in JSON', async () => {
  const environment = { ...SERVICE, SANDBOX_INSTRUMENTS: '20' };
  const { code, out } = await runCli(['check', '--sandbox', '--strict', '--json'], environment);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    configuration: { problems: [], warnings: [] },
    checked: 'sandbox',
    gateway: { findings: [], settings: {} },
  });
});

/** A fault of a gateway or a setting, and what the check reports. */
interface Case {
  readonly gateway?: SandboxOptions;
  readonly faults?: readonly Fault[];
  readonly catalog?: CatalogChange;
  /** A path that is added to the gateway's URL. */
  readonly basePath?: string;
  readonly settings?: Variables;
  readonly problems: readonly RegExp[];
  /** The settings that the report suggests. */
  readonly suggested?: Variables;
  /** Set if the check finds no gateway, so that the check sends no password. */
  readonly sendsNoPassword?: true;
}

const withBody = (operation: Fault['operation'], body: unknown): Fault => ({
  operation,
  kind: 'status',
  status: 200,
  body,
  // The check also calls without a token and with a broken signature. Those calls get the usual answers.
  login: 700001,
});
const position = { id: 'p-1', symbol: 'AAPL', units: 1, isBuy: true, profit: 5 };
const ofEachCall = (fault: Omit<Fault, 'operation'>) => [{ operation: '*', ...fault } as const];

const CASES: Readonly<Record<string, Case>> = {
  'a wrong path': {
    basePath: '/api/v1',
    problems: [
      /^GATEWAY_URL {2}op 12: Status 404: the gateway has no GET \/api\/v1\/trading\/positions\. .* is the path right\?/,
    ],
    sendsNoPassword: true,
  },
  'failures of every call': {
    faults: ofEachCall({ kind: 'status', status: 502 }),
    problems: [/^op 12: Status 502: the gateway, or a proxy/],
    sendsNoPassword: true,
  },
  'calls that all hang': {
    faults: ofEachCall({ kind: 'delay', delayMs: 600_000 }),
    settings: { GATEWAY_TIMEOUT_MS: '2000' },
    problems: [/^GATEWAY_TIMEOUT_MS {2}op 12: No complete answer arrived/],
    sendsNoPassword: true,
  },
  'claims with other names': {
    gateway: { loginClaim: 'mt5_account', groupClaim: 'tier' },
    problems: [
      /^GATEWAY_LOGIN_CLAIM {2}op 10: The token has no usable login in the claim login: the claim mt5_account holds the one/,
      /^GATEWAY_GROUP_CLAIM {2}The token has no group in the claim group: the claim tier holds it/,
    ],
    suggested: { GATEWAY_LOGIN_CLAIM: 'mt5_account', GATEWAY_GROUP_CLAIM: 'tier' },
  },
  'another unit of times': {
    settings: { GATEWAY_TIME_UNIT: 's' },
    problems: [
      /^GATEWAY_TIME_UNIT {2}op 10: Times are not all in s; auto reads/,
      /^GATEWAY_TIME_UNIT {2}op 12: Times are not all in s; auto reads/,
    ],
    suggested: { GATEWAY_TIME_UNIT: 'auto' },
  },
  'another key, so that the service would refuse every request': {
    settings: { JWT_SECRET: 'another secret of thirty-two bytes' },
    problems: [/^JWT_SECRET {2}The token does not verify/],
  },
  'an answer that does not arrive': {
    faults: [{ operation: 'getWithdrawalMethods', kind: 'delay', delayMs: 600_000 }],
    settings: { GATEWAY_TIMEOUT_MS: '4000' },
    problems: [/^GATEWAY_TIMEOUT_MS {2}op 11: No complete answer arrived within 4000 ms/],
  },
  'an answer that is too large': {
    settings: { GATEWAY_MAX_BYTES: '100' },
    problems: [/^GATEWAY_MAX_BYTES {2}op 2: The answer is larger than the limit/],
  },
  'a wrong password': {
    settings: { CHECK_PASSWORD: 'wrong' },
    problems: [/^CHECK_PASSWORD {2}op 2: The sign-in is refused \(status \d+\)/],
  },
  'an answer that is not JSON': {
    faults: [{ operation: 'getSession', kind: 'garbage' }],
    problems: [/^op 10: The answer is not valid JSON/],
  },
  'a connection that breaks': {
    faults: [{ operation: 'getCustomerId', kind: 'reset-after' }],
    problems: [/^op 13: The connection broke before the answer was complete/],
  },
  'a list instead of an object': {
    faults: [withBody('getCustomerId', ['x'])],
    problems: [
      /^op 13: the answer itself: object expected, list found; the whole answer cannot be used/,
      /^op 13: The answer cannot be used \(GATEWAY_CONTRACT\): getCustomerId: no CustomerId/,
    ],
  },
  'wrong types in rows': {
    faults: [
      withBody('getOpenPositions', {
        positions: [
          position,
          { ...position, id: 7, units: 'one' },
          { ...position, profit: null, digits: 2.5 },
        ],
      }),
    ],
    problems: [
      /^op 12: positions\[\]\.id: string expected, number 1 of 3 times found; the whole answer/,
      /^op 12: positions\[\]\.digits: whole number expected, number that is not whole 1 of 3 times found; it will be null/,
      /^op 12: positions\[\]\.units: number expected, string 1 of 3 times found; it will be null/,
      /^op 12: Each of positions\[\] lacks .*priceCurrent.*; they will be null\. Does the gateway have other names/,
      /^op 12: The answer cannot be used/,
    ],
  },
  'a catalog that is always too old': {
    catalog: { ageSeconds: 7_200 },
    problems: [
      /^CATALOG_MAX_AGE_SECONDS {2}op 1: The catalog is 72\d\d s old when it arrives, and may be 3600/,
    ],
  },
  'several faults at once': {
    faults: [
      { operation: 'getOpenPositions', kind: 'status', status: 503, login: 700001 },
      { operation: 'getCustomerId', kind: 'status', status: 429, headers: { 'retry-after': '7' } },
    ],
    catalog: { broken: 3 },
    problems: [
      /^op 12: Status 503: the gateway, or a proxy in front of it, fails/,
      /^op 13: Status 429: too many calls for now; check again in 7 s/,
      /^op 1: \[\]\.\w+: .* of 20 times found; such an instrument is left out of the catalog/,
      /^op 1: 3 of 20 instruments are outside the interface/,
    ],
  },
};

test.each(Object.entries(CASES))(
  'the check reports, with the setting to correct: %s',
  async (_, row) => {
    const { faults = [], catalog, basePath = '', settings = {}, suggested } = row;
    await using gateway = await startGateway(row.gateway);
    for (const fault of faults) gateway.fail(fault);
    if (catalog) gateway.changeCatalog(catalog);
    const { code, text, problems } = await checkOf({ url: gateway.url + basePath }, settings);
    for (const expected of row.problems) {
      expect(problems).toContainEqual(expect.stringMatching(expected));
    }
    const isExpected = (problem: string) => row.problems.some((each) => each.test(problem));
    expect(problems.filter((problem) => !isExpected(problem))).toEqual([]);
    expect(code).toBe(1);
    expect(gateway.calls('login')).toBe(row.sendsNoPassword ? 0 : 1);
    if (!suggested) return;
    const lines = Object.entries(suggested).map(([name, value]) => `  ${name}=${value}\n`);
    expect(text).toContain(`\nSet\n${lines.join('')}`);
    const corrected = await checkOf(gateway, { ...settings, ...suggested });
    expect(corrected.text).toContain('No problem.');
  },
);

test('the check reports a URL without a gateway', async () => {
  const gateway = await startGateway();
  const { port, url } = gateway;
  await using files = await makeCertificate();
  await using front = await startTlsFront(files, port);
  const expectProblem = async (wrongUrl: string, problem: RegExp) =>
    expect((await checkOf({ url: wrongUrl })).problems).toEqual([expect.stringMatching(problem)]);
  await expectProblem(
    'http://gateway.invalid',
    /^GATEWAY_URL {2}op 12: .*the name of the host has no address \(E\w+\)/,
  );
  await expectProblem(
    url.replace('http:', 'https:'),
    /^GATEWAY_URL {2}op 12: .*the port does not speak TLS; is http meant/,
  );
  await expectProblem(
    `https://127.0.0.1:${front.port}`,
    /^NODE_EXTRA_CA_CERTS {2}op 12: .*an authority that this machine does not know/,
  );
  await gateway.close();
  await expectProblem(
    url,
    /^GATEWAY_URL {2}op 12: .*nothing listens at this host and port \(ECONNREFUSED\)\.$/,
  );
});

test.each([
  [
    'asks for its own credentials',
    answer(401, 'no', { 'www-authenticate': 'Basic realm="proxy"' }),
    /^GATEWAY_HEADERS {2}op 12: Status 401 asks for a user/,
  ],
  [
    'redirects to another base',
    answer(301, '', { location: 'https://gateway.example.com/api/trading/positions' }),
    /a redirect to https:\/\/gateway\.example\.com, which is never followed/,
  ],
  [
    'answers a call without a token',
    answer(200, { positions: [] }),
    /^op 12: It is answered without a token; the interface requires one\.$/,
  ],
])('the check reports a front proxy that %s', async (_, response, problem) => {
  await using proxy = await startScriptedGateway((socket) => socket.end(response));
  expect((await checkOf(proxy)).problems[0]).toMatch(problem);
});

test('a gateway that does not check signatures is a problem, unless the service has a key', async () => {
  await using gateway = await startGateway();
  const session = { login: 700001, group: 'standard-usd', positions: [], orders: [] };
  await using careless = await startScriptedGateway((socket, { path, headers }) => {
    const isAccepted = headers.authorization && path.startsWith('/trading/session/');
    socket.write(isAccepted ? answer(200, session) : answer(401, { error: 'UNAUTHORIZED' }));
  });
  const token = gateway.token({ email: 'demo@example.com' });
  const finding = 'op 10: A token with a broken signature is accepted';
  const withoutKey = { GATEWAY_URL: careless.url, CHECK_TOKEN: token };
  const { problems } = await check(withoutKey);
  expect(problems.join('\n')).toContain(`JWT_SECRET  ${finding}`);
  const withKey = await check({ ...withoutKey, JWT_SECRET: gateway.secret });
  expect(withKey.problems.join('\n')).not.toContain('broken signature');
  expect(withKey.text).toContain(finding);
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
  const unsigned = await check({ GATEWAY_URL: careless.url, CHECK_TOKEN: unsignedToken(claims) });
  expect(unsigned.problems).toContainEqual(expect.stringContaining('The token has no signature'));
});

test('a group that is unsafe in a path is never sent', async () => {
  await using gateway = await startGateway();
  gateway.fail(withBody('getSession', { login: 700001, group: '../..' }));
  const { problems } = await checkOf(gateway);
  expect(problems).toContain('op 1: The group cannot be a part of a path, so it is never sent.');
  expect(gateway.calls('getAllTickers')).toBe(0);
});

test('missing headers are notes, and a useless ETag is a warning', async () => {
  await using gateway = await startGateway();
  const authorization = `Bearer ${gateway.token({ email: 'demo@example.com' })}`;
  const path = '/trading/tickers/standard-usd';
  const catalog = await (await fetch(gateway.url + path, { headers: { authorization } })).text();
  const plain = { operation: 'getAllTickers', kind: 'status', status: 200, body: catalog } as const;
  gateway.fail(plain);
  const without = await checkOf(gateway);
  expect(without.code).toBe(0);
  expect(without.text).toContain('There is no Age: the catalog may be up to an hour older');
  gateway.clearFaults();
  gateway.fail({ ...plain, headers: { etag: '"never-compared"' } });
  const withEtag = await checkOf(gateway);
  expect(withEtag.code).toBe(0);
  expect(withEtag.text).toContain('If-None-Match is not answered with 304');
  expect(withEtag.text).toMatch(/\nNo problem, 1 warning\.$/);
});

test.each([
  ['ahead of', 90_000],
  ['behind', -90_000],
])('a gateway’s clock that is %s this machine’s clock is one warning', async (side, aheadMs) => {
  await using gateway = await startGateway();
  const headers = { date: new Date(Date.now() + aheadMs).toUTCString() };
  for (const operation of ['getWithdrawalMethods', 'getCustomerId'] as const) {
    const body = operation === 'getCustomerId' ? { customerId: 'x' } : [[]];
    gateway.fail({ operation, kind: 'status', status: 200, body, headers });
  }
  const { text } = await checkOf(gateway);
  const warnings = text.match(/The gateway's clock is \d+ s (ahead of|behind) this machine's/g);
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`is \\d+ s ${side} this`))]);
});
