import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { USUAL_DOCUMENTS } from '../../src/app/warm-up/documents.ts';
import { startSandbox } from '../../src/sandbox/start.ts';
import { postQuery, startTestApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { startFacadeProcess } from '../support/facade-process.ts';
import { readMetrics } from '../support/leaks.ts';

const WARM = { NODE_ENV: 'production', SANDBOX: 'on', WARM_UP: 'on' };

/** The lines of a metric whose value is not 0. */
async function counted(adminUrl: string, name: string): Promise<string[]> {
  const lines = (await readMetrics(adminUrl)).split('\n');
  return lines.filter((line) => line.startsWith(`trading_graph_${name}`) && !line.endsWith(' 0'));
}

test('a service that has warmed up has its documents, and nothing else has happened in it', async () => {
  await using app = await startTestApp(WARM);
  expect(await counted(app.adminUrl, 'cache_bytes{cache="compiled_code"}')).toHaveLength(1);
  expect(app.sandbox.calls()).toBe(0);
  for (const name of [
    'http_requests_total',
    'operations_total',
    'gateway_calls_total',
    'cache_reads_total',
    'order_records ',
    'refusals_total',
    'cache_bytes{cache="session"}',
    'cache_bytes{cache="token"}',
  ]) {
    expect(await counted(app.adminUrl, name)).toEqual([]);
  }
  expect(app.logged).toEqual([]);
  const { data } = await app.query('{ session { login } }', { token: await app.signIn() });
  expect(data).toEqual({ session: { login: expect.any(String) } });
});

test('what was opened for the warm-up is closed, and nothing is loaded that no setting needs', async () => {
  const listeners = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;
  const asked = new Set<string>();
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      asked.add(specifier);
      return next(specifier, context);
    },
  });
  try {
    await using app = await startTestApp(WARM);
    // The public one, the admin one and the sandbox gateway's.
    await eventually(() => listeners() === 3);
    expect(app.sandbox.calls()).toBe(0);
    expect(asked).not.toContain('jose');
  } finally {
    hooks.deregister();
  }
});

test('nothing is warmed outside of production, or where it is off', async () => {
  await using development = await startTestApp({ WARM_UP: undefined });
  await using off = await startTestApp({ ...WARM, WARM_UP: 'off' });
  for (const { adminUrl } of [development, off]) {
    expect(await counted(adminUrl, 'cache_bytes{cache="compiled_code"}')).toEqual([]);
  }
});

test('trusted queries are warmed with the rest, mutations are left out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-warm-up-'));
  const file = join(folder, 'manifest.json');
  const mutation =
    'mutation M { login(input: { email: "demo@example.com", password: "no" }) { __typename } }';
  await writeFile(
    file,
    JSON.stringify({ q: 'query Q($id: ID!) { instrument(id: $id) { name } }', m: mutation }),
  );
  try {
    await using app = await startTestApp({ ...WARM, PERSISTED_DOCUMENTS: file });
    expect(app.sandbox.calls()).toBe(0);
    expect(app.logged.map((line) => JSON.parse(line).msg)).toEqual(['trusted documents']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("all queries of the client's package are among those that are run", () => {
  const { operations } = JSON.parse(readFileSync('client/trusted-documents.json', 'utf8'));
  const queries = operations.filter(({ type }: { type: string }) => type === 'query');
  expect(queries.length).toBeGreaterThan(0);
  for (const { body } of queries) expect(USUAL_DOCUMENTS).toContain(body);
});

test('the code that the warm-up had compiled is neither thrown away nor unfit for the first requests', async () => {
  await using sandbox = await startSandbox({ seed: 'warm-up', instruments: 300, tickMs: 0 });
  // V8 prints why it throws away or leaves a piece of code.
  await using facade = await startFacadeProcess(
    { ...WARM, GATEWAY_URL: sandbox.url, SANDBOX: undefined, ORDER_STORE: 'memory' },
    ['--trace-deopt'],
  );
  const times = (reason: string) =>
    facade.logged.filter((line) => line.includes(`reason: ${reason}`)).length;
  const wrongTargets = times('wrong call target');
  const token = sandbox.token({ email: 'pro@example.com' });
  for (let at = 0; at < 4; at += 1) {
    const { data } = await postQuery(`${facade.url}/graphql`, '{ customerId }', { token });
    expect(data).toEqual({ customerId: expect.any(String) });
  }
  expect(times('dependent')).toBeGreaterThan(0);
  expect(times('embedded weak objects cleared')).toBeLessThan(20);
  // 35 to 40 where one service alone was warmed.
  expect(times('wrong call target') - wrongTargets).toBeLessThan(8);
});
