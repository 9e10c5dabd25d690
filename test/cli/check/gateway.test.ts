import { expect, test } from 'vitest';
import { compare } from '../../../src/check/gateway/compare.ts';
import { answerOf } from '../../../src/check/gateway/probe.ts';
import { OPERATIONS, type OperationName, READ_NAMES } from '../../../src/gateway/operations.ts';
import type { CatalogChange, CatalogHeaders } from '../../../src/sandbox/catalog.ts';
import type { Fault } from '../../../src/sandbox/faults.ts';
import type { SandboxOptions } from '../../../src/sandbox/start.ts';
import { positionRow } from '../../gateway/wire/rows.ts';
import { OPERATION_CASES } from '../../operations/all.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { runCli } from '../../support/run-cli.ts';
import { answer, startScriptedGateway } from '../../support/scripted-gateway.ts';
import { startTlsFront } from '../../support/tls-front.ts';
import { inSeconds, unsignedToken } from '../../support/tokens.ts';
import { check, checkOf, SERVICE, startGateway, type Variables } from './run-check.ts';

/** The fields that the interface describes for an answer, those of its lists included. */
function fieldsOf(operation: OperationName): number {
  return compare(answerOf(operation), undefined, 0).fields.length;
}

test('of a gateway as the interface describes it all is well, and nothing is written', async () => {
  await using gateway = await startGateway();
  const { code, text, err } = await checkOf(gateway);
  // A busy machine may take long enough for the progress to be told.
  expect(err.replaceAll(/^… .*\n/gm, '')).toBe('');
  expect(code).toBe(0);
  expect(text).toContain('Configuration  fine');
  const count = fieldsOf('getSession');
  expect(text).toMatch(/op 10 +GET \/trading\/session\/\{login\} +200 +\d+ ms +\d+ of/);
  expect(text).toContain(` ${count} of ${count} fields as described`);
  expect(text).toMatch(/unit of times +milliseconds/);
  expect(text).toMatch(/claim of the login +login/);
  expect(text).toMatch(/claim of the group +group/);
  const numbers = READ_NAMES.map((name) => OPERATIONS[name].number).sort((a, b) => a - b);
  expect(text).toMatch(new RegExp(`signatures +checked by ops ${numbers.join(', ')}\n`));
  expect(text).toMatch(
    /\nNot verified, .*\n {2}GATEWAY_DIRECTION_FIELD\n {2}GATEWAY_MOBILE_WALLET\n\nNo problem\.$/,
  );
  const called = new Set(gateway.requests().map(({ operation }) => operation));
  expect(called).toEqual(new Set([...READ_NAMES, 'login']));
  expect(gateway.calls('login')).toBe(1);
  expect(gateway.orders()).toEqual([]);
});

test('the sandbox itself is checked, and can be kept as JSON', async () => {
  const environment = { ...SERVICE, SANDBOX_INSTRUMENTS: '20' };
  const { code, out } = await runCli(['check', '--sandbox', '--strict', '--json'], environment);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    ok: true,
    configuration: { problems: [], warnings: [] },
    checked: 'sandbox',
    unverified: ['GATEWAY_DIRECTION_FIELD', 'GATEWAY_MOBILE_WALLET'],
    gateway: {
      findings: [],
      settings: {},
      claimsUsed: { login: 'login', group: 'group' },
      headers: { age: true, date: true, etag: true, 'cache-control': true },
      times: { ms: READ_NAMES.reduce((sum, name) => sum + OPERATION_CASES[name].times, 0), s: 0 },
    },
  });
});

interface Case {
  readonly gateway?: SandboxOptions;
  readonly faults?: readonly Fault[];
  readonly catalog?: CatalogChange & CatalogHeaders;
  readonly set?: Variables;
  readonly problems: readonly RegExp[];
  /** The settings that it says would mend it. */
  readonly mended?: Variables;
  /** Whether the address is not known to be the gateway's, so that no password goes there. */
  readonly isElsewhere?: true;
  /** Whether it may pass by itself. */
  readonly mayPass?: true;
}

const body = (operation: Fault['operation'], value: unknown): Fault => ({
  operation,
  kind: 'status',
  status: 200,
  body: value,
  // The first call goes without a token, and the last one with a broken signature.
  times: 1,
  skip: operation === 'getOpenPositions' ? 1 : 0,
});
const SNAPSHOT = { login: 700001, group: 'standard-usd', orders: [] };
const OTHER = { ...positionRow, id: 'another' };
const THIRD = { ...positionRow, id: 'a third' };
const position = { id: 'p-1', symbol: 'AAPL', units: 1, isBuy: true, profit: 5 };
const everything = (fault: Omit<Fault, 'operation'>) => [{ operation: '*', ...fault } as const];

const CASES: Readonly<Record<string, Case>> = {
  'a part of the path that is missing': {
    gateway: { pathPrefix: '/api/v1' },
    set: { GATEWAY_URL: '' },
    problems: [/^GATEWAY_URL {2}op 12: Status 404: the gateway has no GET \/trading\/positions/],
    isElsewhere: true,
  },
  'everything that fails': {
    faults: everything({ kind: 'status', status: 502 }),
    problems: [/^op 12: Status 502: the gateway, or what is in front/],
    isElsewhere: true,
    mayPass: true,
  },
  'everything that hangs': {
    faults: everything({ kind: 'hang' }),
    set: { GATEWAY_TIMEOUT_MS: '2000' },
    problems: [/^GATEWAY_TIMEOUT_MS {2}op 12: No whole answer came/],
    isElsewhere: true,
    mayPass: true,
  },
  'everything that redirects': {
    faults: everything({ kind: 'redirect' }),
    problems: [/^GATEWAY_URL {2}op 12: Status 302 is a redirect/],
    isElsewhere: true,
  },
  'pages everywhere': {
    faults: everything({ kind: 'html' }),
    problems: [/^GATEWAY_URL {2}op 12: Status 200 is a page of HTML/],
    isElsewhere: true,
  },
  'claims of other names': {
    gateway: { loginClaim: 'mt5_account', groupClaim: 'tier' },
    problems: [
      /^GATEWAY_LOGIN_CLAIM {2}op 10: The token has no usable login in the claim login: the claim mt5_account holds the one/,
      /^GATEWAY_GROUP_CLAIM {2}The token has no group in the claim group: the claim tier holds it/,
    ],
    mended: { GATEWAY_LOGIN_CLAIM: 'mt5_account', GATEWAY_GROUP_CLAIM: 'tier' },
  },
  'another unit of times': {
    set: { GATEWAY_TIME_UNIT: 's' },
    problems: [/^GATEWAY_TIME_UNIT {2}Times are in milliseconds, and s reads them wrongly\.$/],
    mended: { GATEWAY_TIME_UNIT: 'ms' },
  },
  'another key, with which the service would refuse every request': {
    set: { JWT_SECRET: 'another secret of thirty-two bytes' },
    problems: [/^JWT_SECRET {2}The token does not verify/],
  },
  'answers that do not come, and one that is too large': {
    faults: [{ operation: 'getWithdrawalMethods', kind: 'hang' }],
    set: { GATEWAY_TIMEOUT_MS: '4000' },
    problems: [/^GATEWAY_TIMEOUT_MS {2}op 11: No whole answer came within 4000 ms/],
    mayPass: true,
  },
  'an answer that is too large': {
    set: { GATEWAY_MAX_BYTES: '100' },
    problems: [/^GATEWAY_MAX_BYTES {2}op 2: The answer is larger than is accepted/],
  },
  'a password that is wrong': {
    set: { CHECK_PASSWORD: 'wrong' },
    problems: [/^CHECK_PASSWORD {2}op 2: The sign-in is refused \(status \d+\)/],
  },
  'no JSON': {
    faults: [{ operation: 'getSession', kind: 'garbage' }],
    problems: [/^op 10: The answer is no JSON that can be read/],
  },
  'an empty answer': {
    faults: [{ operation: 'getCustomerId', kind: 'empty' }],
    problems: [/^op 13: The answer is empty/],
  },
  'a connection that breaks': {
    faults: [{ operation: 'getCustomerId', kind: 'cut' }],
    problems: [/^op 13: The connection broke before the answer was whole/],
    mayPass: true,
  },
  'a list in place of an object': {
    faults: [body('getCustomerId', ['x'])],
    problems: [
      /^op 13: the answer itself: object expected, list found; the whole answer cannot be used/,
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
      /^op 12: positions\[\]\.digits: whole number expected, missing 2 of 3 times, number that is not whole 1 of 3 times found; it will be null/,
      /^op 12: positions\[\]\.units: number expected, string 1 of 3 times found; it will be null/,
      /^op 12: Absent from every row: .*positions\[\]\.priceCurrent.*--allow-missing NAME\.$/,
    ],
  },
  'positions that one of two lists lacks': {
    faults: [
      { ...body('getSession', { ...SNAPSHOT, positions: [positionRow, OTHER] }), times: 2 },
      { ...body('getOpenPositions', { positions: [positionRow, THIRD] }), times: 2 },
    ],
    problems: [
      /^op 10: Absent from every row: .*balance, .*\.$/,
      /^op 12: It lacks 1 of the 2 positions that op 10 lists, in two reads a second apart: users would not see them/,
      /^op 12: Of its positions op 10 lacks 1, in two reads a second apart\.$/,
    ],
  },
  'a catalog that is too old whenever it comes': {
    catalog: { ageSeconds: 7_200 },
    problems: [
      /^CATALOG_MAX_AGE_SECONDS {2}op 1: The catalog is 72\d\d s old when it comes, and counts for 3600/,
    ],
  },
  'a catalog that is older than its own max-age': {
    catalog: { ageSeconds: 130, cacheControl: 'max-age=120' },
    problems: [
      /^CATALOG_MAX_AGE_SECONDS {2}op 1: The catalog is 1\d\d s old when it comes, and counts for 120/,
    ],
  },
  'tokens that hardly live': {
    gateway: { tokenTtlSeconds: 40 },
    problems: [/^The token lives for 40 s: its user has to sign in again within the minute\.$/],
  },
  'several faults at once': {
    faults: [
      { operation: 'getOpenPositions', kind: 'status', status: 503, skip: 1 },
      { operation: 'getCustomerId', kind: 'status', status: 429 },
    ],
    catalog: { broken: 3 },
    problems: [
      /^op 12: Status 503: the gateway, or what is in front of it, fails/,
      /^op 13: Status 429: too many calls/,
      /^op 1: \[\]\.\w+: .* of 20 times found; such an instrument is left out of the catalog/,
      /^op 1: 3 of 20 instruments are outside the interface/,
    ],
  },
};

test.each(Object.entries(CASES))('%s: named, with the setting to look at', async (_, given) => {
  const { faults = [], catalog, set = {}, problems: wanted, mended, isElsewhere, mayPass } = given;
  await using gateway = await startGateway(given.gateway);
  for (const fault of faults) gateway.fail(fault);
  if (catalog) gateway.changeCatalog(catalog);
  const url = set.GATEWAY_URL === '' ? { GATEWAY_URL: new URL(gateway.url).origin } : {};
  const { code, text, problems } = await checkOf(gateway, { ...set, ...url });
  for (const one of wanted) expect(problems).toContainEqual(expect.stringMatching(one));
  expect(problems.filter((problem) => !wanted.some((one) => one.test(problem)))).toEqual([]);
  expect(code).toBe(mayPass ? 75 : 1);
  expect(gateway.calls('login')).toBe(isElsewhere ? 0 : 1);
  if (!mended) return;
  const lines = Object.entries(mended).map(([name, value]) => `  ${name}=${value}\n`);
  expect(text).toContain(`\nSet\n${lines.join('')}`);
  expect((await checkOf(gateway, { ...set, ...mended })).text).toContain('No problem.');
});

test('an address where no gateway is reached is named', async () => {
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
      /^GATEWAY_URL {2}op 12: .*TLS: what listens there does not speak it; is http meant/,
      /^NODE_EXTRA_CA_CERTS {2}op 12: .*an authority that this machine does not know/,
      /^GATEWAY_URL {2}op 12: .*nothing listens at this host and port \(ECONNREFUSED\)\.$/,
    ].map((problem) => [expect.stringMatching(problem)]),
  );
});

test.each([
  [
    'asks for credentials of its own',
    answer(401, 'no', { 'www-authenticate': 'Basic realm="proxy"' }),
    /^GATEWAY_HEADERS {2}op 12: Status 401 asks for a user/,
  ],
  [
    'redirects to another base',
    answer(301, '', { location: 'https://gateway.example.com/api/trading/positions' }),
    /it leads to https:\/\/gateway\.example\.com\/api, which may be the base/,
  ],
  [
    'answers without a token',
    answer(200, { positions: [] }),
    /^op 12: It is answered without a token, where the interface asks for one\.$/,
  ],
])('something in front that %s is named', async (_, says, problem) => {
  await using proxy = await startScriptedGateway((socket) => socket.end(says));
  expect((await checkOf(proxy)).problems[0]).toMatch(problem);
});

test('a gateway that does not check signatures is named, and a key makes up for it', async () => {
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

test('a position that is opened between two reads is no contradiction, and a token of less than its proof is warned of', async () => {
  await using gateway = await startGateway({ tokenTtlSeconds: 120 });
  gateway.fail(body('getOpenPositions', { positions: [] }));
  const { code, text } = await checkOf(gateway);
  expect(code).toBe(0);
  expect(text).toContain(
    'AUTH_PROOF_SECONDS  The token lives for 120 s, and its proof counts for 300',
  );
  expect(text).toMatch(/\nNo problem, 1 warning\.$/);
});

test('a group that no path can hold is never sent', async () => {
  await using gateway = await startGateway();
  gateway.fail(body('getSession', { login: 700001, group: '../..' }));
  const { problems } = await checkOf(gateway);
  expect(problems).toContain(
    'op 1: The group cannot be a part of a path: the service never sends it.',
  );
  expect(gateway.calls('getAllTickers')).toBe(0);
});

test('headers that are missing are noted, and an ETag that does nothing is warned of', async () => {
  await using gateway = await startGateway();
  gateway.changeCatalog({ ageSeconds: null, etag: false, cacheControl: null });
  const without = await checkOf(gateway);
  expect(without.code).toBe(0);
  expect(without.text).toMatch(/catalog's headers +date; not there: age, etag, cache-control/);
  expect(without.text).toContain('There is no Age: the catalog may be up to an hour older');
  gateway.changeCatalog({ etag: false, headers: { etag: '"never the same"' } });
  const fruitless = await checkOf(gateway);
  expect(fruitless.code).toBe(0);
  expect(fruitless.text).toContain('If-None-Match is not answered with 304');
  expect(fruitless.text).toMatch(/\nNo problem, 1 warning\.$/);
});

test('a call that takes over a second is told of, and a catalog that takes longer is warned of', async () => {
  await using gateway = await startGateway();
  gateway.fail({ operation: 'getAllTickers', kind: 'delay', delayMs: 2_600, times: 1 });
  const { code, err, text } = await checkOf(gateway);
  expect(code).toBe(0);
  expect(err).toMatch(/^… op 1 +GET \/trading\/tickers\/\{group\}: \d+ s$/m);
  expect(text).toMatch(/op 1: The catalog takes 3 s, for which the first screen of a group waits/);
});
