import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkCommand } from '../../check/src/check.ts';
import { ANSWER_SHAPES } from '../../check/src/gateway/answer-shapes.ts';
import { compare } from '../../check/src/gateway/compare.ts';
import { isReadByToken, pathOfRead } from '../../check/src/gateway/gateway-check.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts';
import { makeCertificate } from '../support/certificate.ts';
import { runCli } from '../support/run-cli.ts';
import { answer, startScriptedGateway } from '../support/scripted-gateway.ts';
import { inSeconds, signedToken, unsignedToken } from '../support/tokens.ts';

type Variables = Readonly<Record<string, string>>;

const SERVICE = { ORDER_STORE: 'memory', PORT: '0', ADMIN_PORT: '0' };
const DEMO = { CHECK_EMAIL: 'demo@example.com', CHECK_PASSWORD: 'demo' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'trading-graph-check-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function check(
  variables: Variables,
  args: readonly string[] = [],
  ask: (question: string) => Promise<string | null> = () => Promise.resolve(null),
) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await checkCommand.run(args, {
    environment: { ...SERVICE, ...variables },
    out: (line) => out.push(line),
    err: (line) => err.push(line),
    ask,
    stopped: () => Promise.resolve(),
  });
  // Texts are wrapped for the console.
  const text = out.join('\n').replace(/\n {4}(?=\S)/g, ' ');
  return { code, text, problems: problemsIn(text), err };
}

function problemsIn(text: string): string[] {
  const block = /\nProblems\n((?: {2}- .*\n)*)/.exec(`${text}\n`)?.[1] ?? '';
  return block
    .split('\n')
    .filter(Boolean)
    .map((line) => line.slice(4));
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function startGateway(options: SandboxOptions = {}) {
  return startSandbox({ tickMs: 0, instruments: 20, ...options });
}

/** The fields that the interface describes for an answer, those of its lists included. */
function fieldsOf(operation: keyof typeof ANSWER_SHAPES): number {
  return compare(ANSWER_SHAPES[operation], undefined, 0).fields.length;
}

describe('against a gateway as the interface describes it', () => {
  test('all is well, and nothing is written', async () => {
    await using gateway = await startGateway();
    const { code, text, err } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    // A busy machine may take long enough for the progress to be told.
    expect(err.filter((line) => !line.startsWith('… '))).toEqual([]);
    expect(code).toBe(0);
    expect(text).toContain('Configuration  fine');
    const count = fieldsOf('getSession');
    expect(text).toMatch(/op 10 +GET \/trading\/session\/\{login\} +200 +\d+ ms +\d+ of/);
    expect(text).toContain(` ${count} of ${count} fields as described`);
    expect(text).toMatch(/unit of times +milliseconds/);
    expect(text).toMatch(/claim of the login +login/);
    expect(text).toMatch(/claim of the group +group/);
    expect(text).toMatch(/signatures +checked by ops 1, 10, 11, 12, 13\n/);
    expect(text).toMatch(
      /\nNot verified, .*\n {2}GATEWAY_DIRECTION_FIELD\n {2}GATEWAY_MOBILE_WALLET\n\nNo problem\.$/,
    );
    const called = new Set(gateway.requests().map(({ operation }) => operation));
    expect([...called].sort()).toEqual([
      ...['getAllTickers', 'getCustomerId', 'getOpenPositions', 'getSession'],
      ...['getWithdrawalMethods', 'login'],
    ]);
    expect(gateway.calls('login')).toBe(1);
    expect(gateway.orders()).toEqual([]);
  });

  test('a token does as well, from a file or as it is copied from a request', async () => {
    await using gateway = await startGateway();
    const path = join(folder, 'token');
    writeFileSync(path, `Bearer ${gateway.token({ email: 'pro@example.com' })}\n`);
    const { code, text } = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN_FILE: path });
    expect(text).toContain('No problem.');
    expect(code).toBe(0);
    expect(gateway.calls('login')).toBe(0);
  });

  test('an account without positions leaves their fields unseen, which is no problem', async () => {
    await using gateway = await startGateway();
    const token = gateway.token({ email: 'fresh@example.com' });
    const { code, text } = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN: token });
    expect(code).toBe(0);
    expect(text).toContain(
      `2 of 2 fields as described; ${fieldsOf('getOpenPositions') - 2} in lists that are empty`,
    );
  });

  test('the sandbox itself is checked, and can be kept as JSON', async () => {
    const { code, out } = await runCli(['check', '--sandbox', '--json'], {
      ...SERVICE,
      SANDBOX_INSTRUMENTS: '20',
    });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      configuration: { problems: [], warnings: [] },
      checked: 'sandbox',
      gateway: {
        findings: [],
        settings: {},
        claimsUsed: { login: 'login', group: 'group' },
        headers: { age: true, date: true, etag: true, 'cache-control': true },
        times: { ms: 31, s: 0 },
      },
    });
  });
});

describe('a setting that is wrong is named', () => {
  test.each([
    ['a part of the path is missing', { pathPrefix: '/api/v1' }, ''],
    ['a part of the path is too much', {}, '/api'],
  ])('GATEWAY_URL: %s', async (_, options, more) => {
    await using gateway = await startGateway(options);
    const { origin } = new URL(gateway.url);
    const { code, problems } = await check({ GATEWAY_URL: origin + more, ...DEMO });
    expect(code).toBe(1);
    expect(problems).toEqual([
      expect.stringMatching(
        /^GATEWAY_URL {2}op 12: Status 404: the gateway has no GET \/trading\/positions under this base/,
      ),
    ]);
    // No password goes to an address that is not known to be the gateway's.
    expect(gateway.requests().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  test('GATEWAY_URL: a host that does not exist, a port where nothing listens', async () => {
    const host = await check({ GATEWAY_URL: 'http://gateway.invalid', ...DEMO });
    expect(host.problems).toEqual([
      expect.stringMatching(
        /^GATEWAY_URL {2}op 12: .*the name of the host has no address \(E\w+\)/,
      ),
    ]);
    const gateway = await startGateway();
    await gateway.close();
    const port = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(port.problems).toEqual([
      'GATEWAY_URL  op 12: The gateway cannot be reached: nothing listens at this host and port (ECONNREFUSED).',
    ]);
    expect([host.code, port.code]).toEqual([1, 1]);
  });

  test('GATEWAY_LOGIN_CLAIM and GATEWAY_GROUP_CLAIM: what they have to be is found out', async () => {
    await using gateway = await startGateway({ loginClaim: 'mt5_account', groupClaim: 'tier' });
    const { code, text, problems } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(code).toBe(1);
    expect(problems).toEqual([
      'GATEWAY_LOGIN_CLAIM  op 10: The token has no usable login in the claim login: the claim mt5_account holds the one that op 10 accepts.',
      'GATEWAY_GROUP_CLAIM  The token has no group in the claim group: the claim tier holds it.',
    ]);
    expect(text).toContain(
      '\nSet\n  GATEWAY_LOGIN_CLAIM=mt5_account\n  GATEWAY_GROUP_CLAIM=tier\n',
    );
    const mended = await check({
      ...{
        GATEWAY_URL: gateway.url,
        GATEWAY_LOGIN_CLAIM: 'mt5_account',
        GATEWAY_GROUP_CLAIM: 'tier',
      },
      ...DEMO,
    });
    expect(mended.text).toContain('No problem.');
  });

  test('GATEWAY_LOGIN_CLAIM: a claim of another number, which op 10 refuses', async () => {
    await using gateway = await startGateway();
    const token = signedToken({
      claims: { sub: 5, id: 12, login: 700001, group: 'standard-usd', exp: inSeconds(60) },
      secret: gateway.secret,
    });
    const { problems } = await check({
      ...{ GATEWAY_URL: gateway.url, GATEWAY_LOGIN_CLAIM: 'sub', CHECK_TOKEN: token },
    });
    expect(problems).toEqual([
      'GATEWAY_LOGIN_CLAIM  op 10: The token names another login in the claim sub: the claim login holds the one that op 10 accepts.',
    ]);
  });

  test('GATEWAY_LOGIN_CLAIM: no claim holds a login, so they are listed by name and type', async () => {
    await using gateway = await startGateway();
    const claims = { sub: 'somebody', roles: ['a'], exp: inSeconds(60) };
    const token = signedToken({ claims, secret: gateway.secret });
    const { problems } = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN: token });
    expect(problems[0]).toContain('Its claims: sub (string), roles (list), exp (number).');
    expect(problems[0]).toMatch(/^GATEWAY_LOGIN_CLAIM/);
  });

  test('GATEWAY_TIME_UNIT', async () => {
    await using gateway = await startGateway();
    const { code, text, problems } = await check({
      ...{ GATEWAY_URL: gateway.url, GATEWAY_TIME_UNIT: 's', ...DEMO },
    });
    expect(code).toBe(1);
    expect(problems).toEqual([
      'GATEWAY_TIME_UNIT  Times are in milliseconds, and s reads them wrongly.',
    ]);
    expect(text).toContain('\nSet\n  GATEWAY_TIME_UNIT=ms\n');
  });

  test('JWT_SECRET: with another key the service would refuse every request', async () => {
    await using gateway = await startGateway();
    const { problems } = await check({
      ...{ GATEWAY_URL: gateway.url, JWT_SECRET: 'another secret of thirty-two bytes', ...DEMO },
    });
    expect(problems).toEqual([expect.stringMatching(/^JWT_SECRET {2}The token does not verify/)]);
    const same = await check({ GATEWAY_URL: gateway.url, JWT_SECRET: gateway.secret, ...DEMO });
    expect(same.text).toContain('No problem.');
  });

  test('GATEWAY_TIMEOUT_MS, CATALOG_TIMEOUT_MS and CATALOG_MAX_BYTES', async () => {
    await using gateway = await startGateway();
    gateway.fail({ operation: 'getWithdrawalMethods', kind: 'hang' });
    gateway.fail({ operation: 'getAllTickers', kind: 'hang' });
    const slow = await check({
      ...{
        GATEWAY_URL: gateway.url,
        GATEWAY_TIMEOUT_MS: '4000',
        CATALOG_TIMEOUT_MS: '4100',
        ...DEMO,
      },
    });
    expect(slow.problems).toEqual([
      'GATEWAY_TIMEOUT_MS  op 11: No whole answer came within 4000 ms.',
      'CATALOG_TIMEOUT_MS  op 1: No whole answer came within 4100 ms.',
    ]);
    gateway.clearFaults();
    const large = await check({ GATEWAY_URL: gateway.url, CATALOG_MAX_BYTES: '3000', ...DEMO });
    expect(large.problems).toEqual([
      'CATALOG_MAX_BYTES  op 1: The answer is larger than is accepted.',
    ]);
  });

  test('GATEWAY_URL: the scheme, against TLS and against none', async () => {
    await using gateway = await startGateway();
    const https = await check({ GATEWAY_URL: gateway.url.replace('http:', 'https:'), ...DEMO });
    expect(https.problems).toEqual([
      expect.stringMatching(
        /^GATEWAY_URL {2}op 12: .*TLS: what listens there does not speak it; is http meant/,
      ),
    ]);
  });

  test('NODE_EXTRA_CA_CERTS: a certificate of an unknown authority', async () => {
    await using server = await startTls();
    const { problems } = await check({ GATEWAY_URL: server.url, ...DEMO });
    expect(problems).toEqual([
      expect.stringMatching(
        /^NODE_EXTRA_CA_CERTS {2}op 12: .*an authority that this machine does not know/,
      ),
    ]);
  });

  test('GATEWAY_HEADERS: something in front asks for credentials of its own', async () => {
    await using proxy = await startScriptedGateway((socket) =>
      socket.end(answer(401, 'no', { 'www-authenticate': 'Basic realm="proxy"' })),
    );
    const { problems } = await check({ GATEWAY_URL: proxy.url, ...DEMO });
    expect(problems).toEqual([
      expect.stringMatching(/^GATEWAY_HEADERS {2}op 12: Status 401 asks for a user/),
    ]);
  });

  test('CHECK_PASSWORD: the sign-in is refused, and is not tried again', async () => {
    await using gateway = await startGateway();
    for (const email of [
      'demo@example.com',
      'password-expired@example.com',
      'locked@example.com',
    ]) {
      gateway.clearCalls();
      const { code, problems } = await check({
        ...{ GATEWAY_URL: gateway.url, CHECK_EMAIL: email },
        CHECK_PASSWORD: email.startsWith('demo') ? 'wrong' : 'demo',
      });
      expect(code).toBe(1);
      expect(problems).toEqual([
        expect.stringMatching(/^CHECK_PASSWORD {2}op 2: The sign-in is refused \(status \d+\)/),
      ]);
      expect(gateway.calls('login')).toBe(1);
    }
  });

  test('CHECK_TOKEN: one that has expired, is revoked, or is no JWT', async () => {
    await using gateway = await startGateway();
    const of = async (token: string) =>
      (await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN: token })).problems[0];
    const expired = gateway.token({ email: 'demo@example.com', expiresInSeconds: -60 });
    expect(await of(expired)).toMatch(/^CHECK_TOKEN {2}The token has expired/);
    const revoked = gateway.token({ email: 'demo@example.com' });
    gateway.revoke({ token: revoked });
    expect(await of(revoked)).toMatch(/^CHECK_TOKEN {2}op 10: Status 401: the token is refused/);
    expect(await of('opaque')).toMatch(/^The token is no JWT/);
  });
});

describe('an answer that is not as the interface describes it is named', () => {
  const position = { id: 'p-1', symbol: 'AAPL', units: 1, isBuy: true, profit: 5 };
  const body = (operation: Fault['operation'], value: unknown): Fault => ({
    ...{ operation, kind: 'status', status: 200, body: value },
    // The first call goes without a token, and the last one with a broken signature.
    times: 1,
    skip: operation === 'getOpenPositions' ? 1 : 0,
  });

  test.each<[Fault['operation'], Fault['kind'], RegExp]>([
    ['getSession', 'garbage', /^op 10: The answer is no JSON that can be read/],
    ['getCustomerId', 'empty', /^op 13: The answer is empty/],
    ['getWithdrawalMethods', 'html', /^GATEWAY_URL {2}op 11: Status 200 is a page of HTML/],
    ['getWithdrawalMethods', 'redirect', /^GATEWAY_URL {2}op 11: Status 302 is a redirect, which/],
    ['getCustomerId', 'reset-before', /^op 13: The connection broke before the answer was whole/],
    ['getCustomerId', 'cut', /^op 13: The connection broke/],
  ])('%s: %s', async (operation, kind, expected) => {
    await using gateway = await startGateway();
    gateway.fail({ operation, kind });
    const { code, problems } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(code).toBe(1);
    expect(problems).toEqual([expect.stringMatching(expected)]);
  });

  test.each<[string, Fault['operation'], unknown, RegExp[]]>([
    [
      'a list in place of an object',
      'getCustomerId',
      ['x'],
      [/^op 13: the answer itself: object expected, list found; the whole answer cannot be used/],
    ],
    [
      'a value that is missing',
      'getCustomerId',
      {},
      [/^op 13: customerId: string expected, missing found; the whole answer/],
    ],
    [
      'a list that is not nested',
      'getWithdrawalMethods',
      [{ id: 1 }],
      [/^op 11: \[\]: list expected, object found; the whole answer/],
    ],
    [
      'wrong types in rows',
      'getOpenPositions',
      {
        positions: [
          position,
          { ...position, id: 7, units: '1' },
          { ...position, profit: null, digits: 2.5 },
        ],
      },
      [
        /^op 12: positions\[\]\.id: string expected, number 1 of 3 times found; the whole answer/,
        /^op 12: positions\[\]\.digits: whole number expected, missing 2 of 3 times, number that is not whole 1 of 3 times found; it will be null/,
        /^op 12: positions\[\]\.units: number expected, string 1 of 3 times found; it will be null/,
      ],
    ],
  ])('%s', async (_, operation, value, expected) => {
    await using gateway = await startGateway();
    gateway.fail(body(operation, value));
    const { problems } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(problems).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });

  test('six faults at once are all named', async () => {
    await using gateway = await startGateway();
    gateway.fail({ operation: 'getOpenPositions', kind: 'status', status: 503, skip: 1 });
    gateway.fail({ operation: 'getCustomerId', kind: 'status', status: 429 });
    gateway.fail({ operation: 'getWithdrawalMethods', kind: 'hang' });
    gateway.fail(body('getSession', { login: 700001, balance: 'much', group: 'standard-usd' }));
    gateway.changeCatalog({ broken: 3 });
    const { problems } = await check({
      ...{ GATEWAY_URL: gateway.url, GATEWAY_TIMEOUT_MS: '4000', ...DEMO },
    });
    const named = problems.join('\n');
    for (const problem of [
      'op 10: balance: number expected, string found',
      'op 12: Status 503: the gateway, or what is in front of it, fails',
      'GATEWAY_TIMEOUT_MS  op 11: No whole answer came',
      'op 13: Status 429: too many calls',
      'op 1: 3 of 20 instruments are outside the interface',
    ]) {
      expect(named).toContain(problem);
    }
    expect(named).toMatch(
      /op 1: \[\]\.\w+: .* of 20 times found; such an instrument is left out of the catalog/,
    );
  });

  test('a group that no path can hold is never sent', async () => {
    await using gateway = await startGateway();
    gateway.fail(body('getSession', { login: 700001, group: '../..' }));
    const { problems } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(problems).toContain(
      'op 1: The group cannot be a part of a path: the service never sends it.',
    );
    expect(gateway.calls('getAllTickers')).toBe(0);
  });

  test('headers that are missing are noted, and an ETag that does nothing is warned of', async () => {
    await using gateway = await startGateway();
    gateway.changeCatalog({ ageSeconds: null, etag: false, cacheControl: null });
    const without = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(without.code).toBe(0);
    expect(without.text).toMatch(/catalog's headers +date; not there: age, etag, cache-control/);
    expect(without.text).toContain('There is no Age: the catalog may be up to an hour older');
    gateway.changeCatalog({ etag: false, headers: { etag: '"never the same"' } });
    const fruitless = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(fruitless.code).toBe(0);
    expect(fruitless.text).toContain('If-None-Match is not answered with 304');
    expect(fruitless.text).toMatch(/\nNo problem, 1 warning\.$/);
  });

  test('a property that the interface does not name is noted by its name alone', async () => {
    await using gateway = await startGateway();
    const named = { customerId: 'x', region: 'eu', 'somebody@example.com': 1 };
    gateway.fail(body('getCustomerId', named));
    const { code, text } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(code).toBe(0);
    expect(text).toContain(
      'op 13: Not in the interface, and not read: region (string), […] (number).',
    );
  });

  test('a gateway that does not check signatures is named, and a key makes up for it', async () => {
    await using gateway = await startGateway();
    const session = JSON.stringify({
      login: 700001,
      group: 'standard-usd',
      positions: [],
      orders: [],
    });
    await using careless = await startScriptedGateway((socket, { path, headers }) => {
      if (!headers.authorization) socket.write(answer(401, { error: 'UNAUTHORIZED' }));
      else if (path.startsWith('/trading/session/')) socket.write(answer(200, session));
      else socket.write(answer(401, { error: 'UNAUTHORIZED' }));
    });
    const token = gateway.token({ email: 'demo@example.com' });
    const { problems } = await check({ GATEWAY_URL: careless.url, CHECK_TOKEN: token });
    expect(problems).toContainEqual(
      expect.stringMatching(/^JWT_SECRET {2}op 10: A token with a broken signature is accepted/),
    );
    const keyed = await check({
      ...{ GATEWAY_URL: careless.url, CHECK_TOKEN: token, JWT_SECRET: gateway.secret },
    });
    expect(keyed.problems.join('\n')).not.toContain('broken signature');
    expect(keyed.text).toContain('op 10: A token with a broken signature is accepted');
    const claims = { login: 700001, group: 'standard-usd', exp: inSeconds(60) };
    const unsigned = await check({ GATEWAY_URL: careless.url, CHECK_TOKEN: unsignedToken(claims) });
    expect(unsigned.problems).toContainEqual(expect.stringContaining('The token has no signature'));
  });

  test.each([
    [
      'fails',
      { kind: 'status', status: 502 },
      /^op 12: Status 502: the gateway, or what is in front/,
    ],
    ['does not answer', { kind: 'hang' }, /^GATEWAY_TIMEOUT_MS {2}op 12: No whole answer came/],
    ['redirects', { kind: 'redirect' }, /^GATEWAY_URL {2}op 12: Status 302 is a redirect/],
    ['shows a page', { kind: 'html' }, /^GATEWAY_URL {2}op 12: Status 200 is a page of HTML/],
  ] as const)('no password goes to an address where everything %s', async (_, fault, problem) => {
    await using gateway = await startGateway();
    gateway.fail({ operation: '*', ...fault });
    const { code, problems } = await check({
      ...{ GATEWAY_URL: gateway.url, GATEWAY_TIMEOUT_MS: '2000', ...DEMO },
    });
    expect(code).toBe(1);
    expect(problems).toEqual([expect.stringMatching(problem)]);
    expect(gateway.calls('login')).toBe(0);
  });

  test('a redirect names the base address that it leads to', async () => {
    await using gateway = await startScriptedGateway((socket, { path }) => {
      const location = `https://gateway.example.com/api${path}`;
      socket.end(answer(301, '', { location }));
    });
    const { problems } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
    expect(problems[0]).toContain(
      'it leads to https://gateway.example.com/api, which may be the base',
    );
  });

  test('operations that answer without a token', async () => {
    await using open = await startScriptedGateway((socket) =>
      socket.write(answer(200, { positions: [] })),
    );
    const { problems } = await check({ GATEWAY_URL: open.url });
    expect(problems[0]).toBe(
      'op 12: It is answered without a token, where the interface asks for one.',
    );
  });
});

describe('secrets', () => {
  test('no token, no e-mail, no figure of the account is printed, whatever happens', async () => {
    await using gateway = await startGateway();
    const canaries = [
      'demo@example.com',
      '700001',
      'standard-usd',
      'cus_',
      '50000',
      'eyJ',
      'hunter2',
    ];
    const runs: Variables[] = [
      DEMO,
      { CHECK_EMAIL: 'demo@example.com', CHECK_PASSWORD: 'hunter2' },
      { CHECK_TOKEN: gateway.token({ email: 'demo@example.com' }) },
      { ...DEMO, GATEWAY_LOGIN_CLAIM: 'sub', GATEWAY_GROUP_CLAIM: 'sub' },
      { CHECK_TOKEN: 'eyJhunter2' },
      { ...DEMO, CHECK_TOKEN: 'eyJhunter2' },
    ];
    const faults: (Fault | null)[] = [
      null,
      { operation: '*', kind: 'garbage', skip: 1 },
      {
        operation: '*',
        kind: 'redirect',
        headers: { location: 'https://example.com/700001?t=eyJ' },
        skip: 3,
      },
      {
        operation: 'getSession',
        kind: 'status',
        status: 200,
        body: { login: '700001', balance: '50000', '700001': 'eyJ' },
      },
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
    const answers = (replies: Variables) => (question: string, options?: { isHidden: boolean }) => {
      asked.push(`${question}${options?.isHidden ? '(hidden)' : ''}`);
      return Promise.resolve(replies[question.trim()] ?? null);
    };
    const signIn = { 'E-mail (none to give a token):': 'demo@example.com', 'Password:': 'demo' };
    const first = await check({ GATEWAY_URL: gateway.url }, [], answers(signIn));
    expect(first.text).toContain('No problem.');
    const token = gateway.token({ email: 'demo@example.com' });
    const byToken = { 'E-mail (none to give a token):': '', 'Token:': token };
    const second = await check({ GATEWAY_URL: gateway.url }, [], answers(byToken));
    expect(second.text).toContain('No problem.');
    expect(asked).toEqual([
      ...['E-mail (none to give a token): ', 'Password: (hidden)'],
      ...['E-mail (none to give a token): ', 'Token: (hidden)'],
    ]);
  });

  test('without any, and without a console, it says which variables to set', async () => {
    await using gateway = await startGateway();
    const { code, out } = await runCli(['check'], { ...SERVICE, GATEWAY_URL: gateway.url });
    expect(code).toBe(1);
    expect(out).toContain('CHECK_TOKEN is unset');
    expect(gateway.calls('getOpenPositions')).toBe(1);
    const half = await check({ GATEWAY_URL: gateway.url, CHECK_EMAIL: 'demo@example.com' });
    expect(half.problems[0]).toContain('CHECK_PASSWORD is unset');
    const both = await check({ GATEWAY_URL: gateway.url, ...DEMO, CHECK_TOKEN: 'x' });
    expect(both.problems[0]).toBe('CHECK_EMAIL: must be unset where CHECK_TOKEN is set.');
    const missing = await check({ GATEWAY_URL: gateway.url, CHECK_TOKEN_FILE: '/none' });
    expect(missing.problems[0]).toContain(
      'CHECK_TOKEN_FILE="/none": must be a file that holds CHECK_TOKEN',
    );
  });

  test('they are no arguments', async () => {
    const { code, err } = await check({}, ['--token', 'x']);
    expect(code).toBe(2);
    expect(err[0]).toContain('--token');
  });
});

describe('the configuration', () => {
  test('all its problems come at once, and the gateway of a faulty one is not called', async () => {
    const { code, text } = await check({
      ...{ PORT: 'x', GATEWAY_URL: 'ftp://example.com', MAX_COST: '-1', RATE_LIMIT_PER_MIN: '5' },
      PERSISTED_DOCUMENTS: join(folder, 'missing'),
    });
    expect(code).toBe(1);
    expect(text).toContain('Configuration  4 problems');
    for (const name of ['PORT="x"', 'GATEWAY_URL="ftp', 'MAX_COST="-1"', 'PERSISTED_DOCUMENTS=']) {
      expect(text).toContain(`  - ${name}`);
    }
    expect(text).toContain('warning: RATE_LIMIT_PER_MIN is not a setting');
    expect(text).toContain('Gateway        not checked, since settings of it are wrong');
  });

  test('a problem elsewhere leaves the gateway to be checked', async () => {
    await using gateway = await startGateway();
    const { code, text } = await check({ GATEWAY_URL: gateway.url, MAX_COST: 'x', ...DEMO });
    expect(code).toBe(1);
    expect(text).toContain('  - MAX_COST="x"');
    expect(text).toMatch(/op 1 +GET \/trading\/tickers\/\{group\} +200/);
    expect(text).toMatch(/\n1 problem\.$/);
  });

  test('without a gateway it says so', async () => {
    const { code, text } = await check({});
    expect(code).toBe(0);
    expect(text).toContain('GATEWAY_URL is unset (--sandbox checks the sandbox gateway)');
    expect(text).toMatch(/\nThe configuration is fine\.$/);
  });

  test('no file of order records is made, and one that cannot be made is a problem', async () => {
    const path = join(folder, 'data', 'orders.db');
    expect((await check({ ORDER_STORE: path })).code).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(join(folder, 'file'), '');
    const { code, text } = await check({ ORDER_STORE: join(folder, 'file', 'orders.db') });
    expect(code).toBe(1);
    expect(text).toContain('must be a file that this process can use');
  });

  test('a Redis and a key set that cannot be reached are named', async () => {
    await using web = await startScriptedGateway((socket) => socket.end(answer(200, { keys: [] })));
    const nowhere = `http://127.0.0.1:${await closedPort()}`;
    const redisUrl = nowhere.replace('http', 'redis');
    const { code, text } = await check({ REDIS_URL: redisUrl, JWT_JWKS_URL: `${nowhere}/keys` });
    expect(code).toBe(1);
    expect(text).toContain('Configuration  2 problems');
    expect(text).toMatch(
      /- REDIS_URL=.*: must be a Redis that can be used \(it cannot be reached\)/,
    );
    expect(text).toMatch(
      /- JWT_JWKS_URL=.*: must be the address of a key set \(it cannot be fetched/,
    );
    const empty = await check({ JWT_JWKS_URL: `${web.url}/keys` });
    expect(empty.text).toMatch(/- JWT_JWKS_URL=.*\(the answer has no keys\)/);
  });

  test('a port that is in use is a warning: it may be the service itself', async () => {
    await using other = await startGateway();
    const { code, text } = await check({ PORT: String(other.port) });
    expect(code).toBe(0);
    expect(text).toContain(`warning: PORT=${other.port}`);
  });
});

test('reads that are added later are tried with the login, where they need no more', () => {
  expect(isReadByToken('/trading/positions')).toBe(true);
  expect(isReadByToken('/trading/history/{login}')).toBe(true);
  expect(isReadByToken('/trading/history/{login}/{symbol}')).toBe(false);
  expect(pathOfRead('/trading/positions', null)).toEqual({});
  expect(pathOfRead('/trading/history/{login}', '7')).toEqual({ login: '7' });
  expect(pathOfRead('/trading/history/{login}', null)).toBeNull();
});

test('a call that takes over a second is told of', async () => {
  await using gateway = await startGateway();
  gateway.fail({ operation: 'getCustomerId', kind: 'delay', delayMs: 2_500, times: 1 });
  const { code, err } = await check({ GATEWAY_URL: gateway.url, ...DEMO });
  expect(code).toBe(0);
  expect(err.join('\n')).toMatch(/^… op 13 +GET \/payments\/client\/customer-id: \d+ s$/m);
});

/** A TLS server whose certificate it has signed itself. */
async function startTls() {
  await using files = await makeCertificate();
  const server = createTlsServer({
    key: readFileSync(files.key),
    cert: readFileSync(files.certificate),
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
