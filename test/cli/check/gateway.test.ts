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

test('a gateway that follows the interface has no problem, and nothing is written to it', async () => {
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

interface Case {
  readonly gateway?: SandboxOptions;
  readonly faults?: readonly Fault[];
  readonly catalog?: CatalogChange;
  /** A path that is added to the gateway's address. */
  readonly base?: string;
  readonly set?: Variables;
  readonly problems: readonly RegExp[];
  /** The settings that the report suggests. */
  readonly suggested?: Variables;
  /** Whether the check finds no gateway, so that it sends no password. */
  readonly sendsNoPassword?: true;
}

const body = (operation: Fault['operation'], value: unknown): Fault => ({
  operation,
  kind: 'status',
  status: 200,
  body: value,
  // The check also calls without a token and with a broken signature. Those calls get the usual answers.
  login: 700001,
});
const position = { id: 'p-1', symbol: 'AAPL', units: 1, isBuy: true, profit: 5 };
const everything = (fault: Omit<Fault, 'operation'>) => [{ operation: '*', ...fault } as const];

const CASES: Readonly<Record<string, Case>> = {
  'a wrong path': {
    base: '/api/v1',
    problems: [
      /^GATEWAY_URL {2}op 12: Status 404: the gateway has no GET \/api\/v1\/trading\/positions\. .* is the path right\?/,
    ],
    sendsNoPassword: true,
  },
  'failures of every call': {
    faults: everything({ kind: 'status', status: 502 }),
    problems: [/^op 12: Status 502: the gateway, or a proxy/],
    sendsNoPassword: true,
  },
  'calls that all hang': {
    faults: everything({ kind: 'delay', delayMs: 600_000 }),
    set: { GATEWAY_TIMEOUT_MS: '2000' },
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
    set: { GATEWAY_TIME_UNIT: 's' },
    problems: [
      /^GATEWAY_TIME_UNIT {2}op 10: Times are not all in s; auto reads/,
      /^GATEWAY_TIME_UNIT {2}op 12: Times are not all in s; auto reads/,
    ],
    suggested: { GATEWAY_TIME_UNIT: 'auto' },
  },
  'another key, so that the service would refuse every request': {
    set: { JWT_SECRET: 'another secret of thirty-two bytes' },
    problems: [/^JWT_SECRET {2}The token does not verify/],
  },
  'an answer that does not arrive': {
    faults: [{ operation: 'getWithdrawalMethods', kind: 'delay', delayMs: 600_000 }],
    set: { GATEWAY_TIMEOUT_MS: '4000' },
    problems: [/^GATEWAY_TIMEOUT_MS {2}op 11: No complete answer arrived within 4000 ms/],
  },
  'an answer that is too large': {
    set: { GATEWAY_MAX_BYTES: '100' },
    problems: [/^GATEWAY_MAX_BYTES {2}op 2: The answer is larger than the limit/],
  },
  'a wrong password': {
    set: { CHECK_PASSWORD: 'wrong' },
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
    faults: [body('getCustomerId', ['x'])],
    problems: [
      /^op 13: the answer itself: object expected, list found; the whole answer cannot be used/,
      /^op 13: The answer cannot be used \(GATEWAY_CONTRACT\): getCustomerId: no CustomerId/,
    ],
  },
  'wrong types in rows': {
    faults: [
      body('getOpenPositions', {
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
      { operation: 'getCustomerId', kind: 'status', status: 429 },
    ],
    catalog: { broken: 3 },
    problems: [
      /^op 12: Status 503: the gateway, or a proxy in front of it, fails/,
      /^op 13: Status 429: too many calls/,
      /^op 1: \[\]\.\w+: .* of 20 times found; such an instrument is left out of the catalog/,
      /^op 1: 3 of 20 instruments are outside the interface/,
    ],
  },
};

test.each(Object.entries(CASES))(
  'the check reports, with the setting to correct: %s',
  async (_, given) => {
    const { faults = [], catalog, base = '', set = {}, problems: wanted, suggested } = given;
    await using gateway = await startGateway(given.gateway);
    for (const fault of faults) gateway.fail(fault);
    if (catalog) gateway.changeCatalog(catalog);
    const { code, text, problems } = await checkOf({ url: gateway.url + base }, set);
    for (const one of wanted) expect(problems).toContainEqual(expect.stringMatching(one));
    expect(problems.filter((problem) => !wanted.some((one) => one.test(problem)))).toEqual([]);
    expect(code).toBe(1);
    expect(gateway.calls('login')).toBe(given.sendsNoPassword ? 0 : 1);
    if (!suggested) return;
    const lines = Object.entries(suggested).map(([name, value]) => `  ${name}=${value}\n`);
    expect(text).toContain(`\nSet\n${lines.join('')}`);
    expect((await checkOf(gateway, { ...set, ...suggested })).text).toContain('No problem.');
  },
);

test('the check reports an address without a gateway', async () => {
  const gateway = await startGateway();
  const { port, url } = gateway;
  const at = async (of: string) => (await checkOf({ url: of })).problems;
  await using files = await makeCertificate();
  await using front = await startTlsFront(files, port);
  expect([
    await at('http://gateway.invalid'),
    await at(url.replace('http:', 'https:')),
    await at(`https://127.0.0.1:${front.port}`),
    await gateway.close().then(() => at(url)),
  ]).toEqual(
    [
      /^GATEWAY_URL {2}op 12: .*the name of the host has no address \(E\w+\)/,
      /^GATEWAY_URL {2}op 12: .*the port does not speak TLS; is http meant/,
      /^NODE_EXTRA_CA_CERTS {2}op 12: .*an authority that this machine does not know/,
      /^GATEWAY_URL {2}op 12: .*nothing listens at this host and port \(ECONNREFUSED\)\.$/,
    ].map((problem) => [expect.stringMatching(problem)]),
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
    'answers without a token',
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
    const isTaken = headers.authorization && path.startsWith('/trading/session/');
    socket.write(isTaken ? answer(200, session) : answer(401, { error: 'UNAUTHORIZED' }));
  });
  const token = gateway.token({ email: 'demo@example.com' });
  const taken = 'op 10: A token with a broken signature is accepted';
  const careful = { GATEWAY_URL: careless.url, CHECK_TOKEN: token };
  const { problems } = await check(careful);
  expect(problems.join('\n')).toContain(`JWT_SECRET  ${taken}`);
  const keyed = await check({ ...careful, JWT_SECRET: gateway.secret });
  expect(keyed.problems.join('\n')).not.toContain('broken signature');
  expect(keyed.text).toContain(taken);
  const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
  const unsigned = await check({ GATEWAY_URL: careless.url, CHECK_TOKEN: unsignedToken(claims) });
  expect(unsigned.problems).toContainEqual(expect.stringContaining('The token has no signature'));
});

test('a group that is unsafe in a path is never sent', async () => {
  await using gateway = await startGateway();
  gateway.fail(body('getSession', { login: 700001, group: '../..' }));
  const { problems } = await checkOf(gateway);
  expect(problems).toContain('op 1: The group cannot be a part of a path, so it is never sent.');
  expect(gateway.calls('getAllTickers')).toBe(0);
});

test('missing headers are notes, and a useless ETag is a warning', async () => {
  await using gateway = await startGateway();
  const authorization = `Bearer ${gateway.token({ email: 'demo@example.com' })}`;
  const path = '/trading/tickers/standard-usd';
  const catalog = await (await fetch(gateway.url + path, { headers: { authorization } })).text();
  const answer = {
    operation: 'getAllTickers',
    kind: 'status',
    status: 200,
    body: catalog,
  } as const;
  gateway.fail(answer);
  const without = await checkOf(gateway);
  expect(without.code).toBe(0);
  expect(without.text).toContain('There is no Age: the catalog may be up to an hour older');
  gateway.clearFaults();
  gateway.fail({ ...answer, headers: { etag: '"never-compared"' } });
  const withEtag = await checkOf(gateway);
  expect(withEtag.code).toBe(0);
  expect(withEtag.text).toContain('If-None-Match is not answered with 304');
  expect(withEtag.text).toMatch(/\nNo problem, 1 warning\.$/);
});

test.each([
  ['ahead of', 90_000],
  ['behind', -90_000],
])('a gateway’s clock %s this machine’s is one warning', async (side, aheadMs) => {
  await using gateway = await startGateway();
  const headers = { date: new Date(Date.now() + aheadMs).toUTCString() };
  for (const operation of ['getWithdrawalMethods', 'getCustomerId'] as const) {
    const answer = operation === 'getCustomerId' ? { customerId: 'x' } : [[]];
    gateway.fail({ operation, kind: 'status', status: 200, body: answer, headers });
  }
  const { text } = await checkOf(gateway);
  const warnings = text.match(/The gateway's clock is \d+ s (ahead of|behind) this machine's/g);
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`is \\d+ s ${side} this`))]);
});
