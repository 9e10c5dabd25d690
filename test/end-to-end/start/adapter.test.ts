import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSandbox } from '../../../sandbox/start.ts';
import { startTestApp } from '../../support/app.ts';
import { buying } from '../../support/buying.ts';
import { eventually } from '../../support/eventually.ts';
import { failedStart } from '../../support/failed-start.ts';
import { listenLocally } from '../../support/local-server.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { runCli } from '../../support/run-cli.ts';
import { sseClient } from '../live/watcher.ts';

const folder = ownFolder();
const ROOT = join(import.meta.dirname, '../../..');
const ACME = join(ROOT, 'examples/adapter/acme.ts');

const OTHERS: Readonly<Record<string, string>> = {
  Invested: 'total_invested',
  Profits: 'total_profit',
};
const TIMES = new Set(['timeCreate', 'timeUpdate', 'createdAt']);

/** A value of the sandbox's as Acme's gateway writes it. */
function acmes(value: unknown, name = ''): unknown {
  if (typeof value === 'number') {
    return TIMES.has(name)
      ? new Date(value < 1e11 ? value * 1_000 : value).toISOString()
      : String(value);
  }
  if (Array.isArray(value)) return value.map((each) => acmes(each));
  if (value === null || typeof value !== 'object') return value;
  const snake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [OTHERS[key] ?? snake(key), acmes(each, key)]),
  );
}

const CODES: Readonly<Record<number, string>> = {
  401: 'TOKEN_EXPIRED',
  403: 'WRONG_ACCOUNT',
  429: 'SLOW_DOWN',
};

/** Acme's gateway, in front of a sandbox that does the trading. */
async function startAcme(sandbox: { readonly url: string }) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = await text(request);
    bodies.push(body);
    const path = url.replace(/^\/api\/v3/, '');
    if (path === url || headers.authorization !== undefined) return response.writeHead(404).end();
    const session = headers['x-acme-session'];
    const answer = await fetch(sandbox.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(typeof session === 'string' && { authorization: session }),
      },
      ...(body !== '' && { body: body.replace('sl_amount', 'slAmount') }),
    });
    const read = (await answer.json()) as { readonly error?: string; readonly message?: string };
    const code = CODES[answer.status];
    const wrapped =
      answer.ok || read.error === undefined
        ? { data: acmes(read) }
        : { error: { code: code ?? read.error, text: read.message ?? '' } };
    const status = code === undefined ? answer.status : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(wrapped));
  });
  return { ...(await listenLocally(server)), bodies };
}

test('a gateway of another shape is served from the sign-in to an order and its live list', async () => {
  await using sandbox = await startSandbox({ seed: 'tests', tickMs: 86_400_000 });
  await using acme = await startAcme(sandbox);
  const environment = { GATEWAY_URL: acme.url, GATEWAY_ADAPTER: ACME, ORDER_STORE: 'memory' };
  await using app = await startTestApp(environment, { gateway: sandbox });
  const token = await app.signIn();
  const SCREEN = `{ session { balance invested createdAt access { currencyDigits } }
    positions { id units profit createdAt instrument { name min swap { long } } }
    withdrawalMethods { id title } customerId }`;
  await using plain = await startTestApp({}, { gateway: sandbox });
  const [shown, expected] = await Promise.all([
    app.query(SCREEN, { token }),
    plain.query(SCREEN, { token }),
  ]);
  expect([shown.errors, shown.data]).toEqual([[], expected.data]);
  const texts = app.logged.filter((line) => line.includes('writes numbers or times as texts'));
  expect(texts.map((line) => JSON.parse(line).operation).toSorted()).toEqual([
    'getAllTickers',
    'getOpenPositions',
    'getSession',
    'getWithdrawalMethods',
  ]);

  const bought = await app.query(buying('k', '... on OrderAccepted { orderId }'), { token });
  expect(bought.errors).toEqual([]);
  const { orderId } = bought.data.placeOrder;
  expect(orderId).toMatch(/./);
  {
    await using client = sseClient(app, token);
    const watcher = client.watch();
    await eventually(() => watcher.rows.has(orderId), watcher.whileOpen);
  }

  sandbox.fail({
    operation: 'getCustomerId',
    kind: 'status',
    status: 401,
    body: { error: 'x' },
  });
  const ended = await app.query('{ customerId }', { token });
  expect(ended.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
});

test('`check` reads a gateway by its adapter, and says so where that fails', async () => {
  await using sandbox = await startSandbox({ seed: 'tests', tickMs: 86_400_000 });
  await using acme = await startAcme(sandbox);
  const environment = {
    GATEWAY_URL: acme.url,
    CHECK_EMAIL: 'demo@example.com',
    CHECK_PASSWORD: 'demo',
  };
  const read = await runCli(['check'], { ...environment, GATEWAY_ADAPTER: ACME });
  expect(read.out).not.toMatch(/expected|Missing|Not in the interface/);
  const broken = join(folder.path, 'broken.mjs');
  await writeFile(
    broken,
    "export default { request: ({ path }) => ({ path: '/api/v3' + path }), answer() { throw new Error('no case for it'); } };",
  );
  const failed = await runCli(['check'], { ...environment, GATEWAY_ADAPTER: broken });
  expect(failed.out).toContain('The answer was not read: broken: answer: no case for it.');
  const missing = await runCli(['check'], { ...environment, GATEWAY_ADAPTER: 'none.mjs' });
  expect(missing.out).toMatch(
    /GATEWAY_ADAPTER="none.mjs".*missing[\s\S]*not checked, since settings of it are wrong/,
  );
});

test.each([
  ['is missing', null, 'missing'],
  ['throws', "throw new Error('no licence');", 'throwing: no licence'],
  ['exports no adapter', 'export default {};', 'exporting neither'],
  [
    'has an answer that is none',
    'export default { answer: 1, request() {} };',
    'exporting neither',
  ],
])('a start whose adapter %s stops by name', async (_, source, reason) => {
  const path = join(folder.path, 'adapter.mjs');
  if (source !== null) await writeFile(path, source);
  const file = source === null ? 'none.mjs' : path;
  const { code, problems } = await failedStart({ GATEWAY_ADAPTER: file });
  expect(code).toBeGreaterThan(0);
  const [line] = problems.filter((each) => each.startsWith(`GATEWAY_ADAPTER="${file}"`));
  expect(line).toContain(`(${reason})`);
});

test('a fault of an adapter costs its call, which the log tells with its file, and nothing else', async () => {
  const path = join(folder.path, 'faulty.mjs');
  await writeFile(
    path,
    `export default {
      request: ({ operation }) => (operation === 'placeLimitOrder' ? undefined : {}),
      answer(operation, body) {
        if (operation === 'getCustomerId') return Promise.reject(new Error('late'));
        if (operation === 'openPosition') throw new Error('no such field');
        return body;
      },
    };`,
  );
  await using app = await startTestApp({ GATEWAY_ADAPTER: path });
  const token = await app.signIn();
  const read = await app.query('{ customerId session { id } }', { token });
  expect(read.errors).toMatchObject([
    { path: ['customerId'], extensions: { code: 'GATEWAY_CONTRACT' } },
  ]);
  expect(read.data.session).not.toBeNull();
  const sent = await app.query(buying('k', '__typename'), { token });
  expect(sent.data.placeOrder).toEqual({ __typename: 'OrderOutcomeUnknown' });
  const unsent = await app.query(
    'mutation { placeLimitOrder(input: { symbol: "AAPL", side: BUY, amount: 100, price: 1, idempotencyKey: "l" }) { __typename } }',
    { token },
  );
  expect(unsent.errors).toMatchObject([{ extensions: { code: 'GATEWAY_UNAVAILABLE' } }]);
  expect(app.sandbox.calls('placeLimitOrder')).toBe(0);
  const told = app.logged.flatMap((line) => {
    const { adapter, part, operation } = JSON.parse(line);
    return adapter === undefined ? [] : [[adapter, part, operation].join()];
  });
  expect(told.toSorted()).toEqual([
    'faulty,answer,getCustomerId',
    'faulty,answer,openPosition',
    'faulty,request,placeLimitOrder',
  ]);
});

test('the example’s own test passes, and its page shows it', async () => {
  const [page, source] = await Promise.all([
    readFile(join(ROOT, 'docs/adapter.md'), 'utf8'),
    readFile(ACME, 'utf8'),
  ]);
  expect(page).toContain(source.trimEnd());
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', 'examples/adapter/acme.test.ts'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT, env });
  expect(stdout).toMatch(/^\S+ pass 2$/m);
});
