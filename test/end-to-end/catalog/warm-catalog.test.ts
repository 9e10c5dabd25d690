import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { readAdapter } from '../../../src/app/resources.ts';
import type { Environment } from '../../../src/config.ts';
import { startTestApp } from '../../support/app.ts';
import { describeWithRedis } from '../../support/describe-with.ts';
import { eventually } from '../../support/eventually.ts';
import { startHeldGateway } from '../../support/held-gateway.ts';
import { ownFolder } from '../../support/own-folder.ts';
import { startTestRedis } from '../../support/redis.ts';

const folder = ownFolder();
const HOME =
  '{ session { balance } positions { instrument { name } } customerId catalog { id version stale ageSeconds size } }';
const CATALOG = '{ catalog { id version stale } }';
const DEMO = { email: 'demo@example.com' };
const PRO = { email: 'pro@example.com' };

/** Stored in a file; `stored` is where. */
const inFile = () => ({ ORDER_STORE: join(folder.path, 'orders.db') });
const folderOf = () => join(folder.path, 'orders.db.catalogs');
async function storedFiles(): Promise<readonly string[]> {
  const names = await readdir(folderOf()).catch(() => []);
  return names.filter((name) => name.endsWith('.catalog')).map((name) => join(folderOf(), name));
}

/** A process of this environment has read the demo user's catalog, and its copy is stored. */
async function warm(gateway: Sandbox, environment: Environment, isStored: () => Promise<boolean>) {
  const app = await startTestApp(environment, { gateway });
  const { data } = await app.query(HOME, { token: gateway.token(DEMO) });
  await eventually(isStored);
  return { app, catalog: data.catalog, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
}

/** While op 1 is held, a process without a catalog serves what is stored to whoever has proved its group, and to nobody else. */
async function servesWhileHeld(
  sandbox: Sandbox,
  held: Awaited<ReturnType<typeof startHeldGateway>>,
  environment: Environment,
  stored: { readonly version: string },
) {
  await using cold = await startTestApp(environment, { gateway: sandbox });
  held.hold(/tickers/);
  const forged = sandbox.token({ ...DEMO, signature: 'forged' });
  const strangers = await cold.query(HOME, { token: forged });
  expect(strangers.errors.map(({ extensions }) => extensions.code)).toContain('UNAUTHENTICATED');
  expect(strangers.data.catalog).toBeNull();
  const answers = await Promise.all(
    [1, 2, 3].map(() => cold.query(HOME, { token: sandbox.token(DEMO) })),
  );
  for (const { data, errors } of answers) {
    expect(errors).toEqual([]);
    expect(data.catalog).toMatchObject({
      id: 'standard-usd',
      version: stored.version,
      stale: false,
    });
    expect(data.positions[0].instrument.name).not.toBe('');
  }
  // It is loaded anew by one call, for which nobody has waited.
  await eventually(() => expect(held.waiting).toBe(1));
  // A claim opens what is stored to nobody: this account's own group is another, and has to be waited for.
  const pro = cold.query(CATALOG, { token: sandbox.token({ ...PRO, group: 'standard-usd' }) });
  await eventually(() => expect(held.waiting).toBe(2));
  sandbox.changeCatalog({ add: 1 });
  held.release();
  expect((await pro).data.catalog.id).toBe('pro-usd');
  const renewed = async () => (await cold.query(HOME, { token: sandbox.token(DEMO) })).data.catalog;
  await eventually(async () => expect((await renewed()).version).not.toBe(stored.version));
}

test('after a restart a file serves the home screen while op 1 is held, to whoever has proved its group alone', async () => {
  await using sandbox = await startSandbox({ seed: 'tests', tickMs: 0 });
  await using held = await startHeldGateway(sandbox);
  const environment = { ...inFile(), GATEWAY_URL: held.url };
  const isStored = async () => (await storedFiles()).length === 1;
  const before = await warm(sandbox, environment, isStored);
  await before[Symbol.asyncDispose]();
  await servesWhileHeld(sandbox, held, environment, before.catalog);
});

describeWithRedis('a replica that shares a Redis', (serverPath) => {
  test('serves the home screen beside a warm one while op 1 is held, and after a restart of all', async () => {
    await using redis = await startTestRedis(serverPath);
    await using sandbox = await startSandbox({ seed: 'tests', tickMs: 0 });
    await using held = await startHeldGateway(sandbox);
    const environment = { REDIS_URL: redis.url, GATEWAY_URL: held.url };
    const count = () => redis.command('ZCARD', 'trading-graph:packed-catalogs');
    {
      await using beside = await warm(sandbox, environment, async () => (await count()) === 1);
      await servesWhileHeld(sandbox, held, environment, beside.catalog);
    }
    await using cold = await startTestApp(environment, { gateway: sandbox });
    sandbox.fail({ operation: 'getAllTickers', kind: 'status', status: 500 });
    const { data } = await cold.query(CATALOG, { token: sandbox.token(DEMO) });
    expect(data.catalog.id).toBe('standard-usd');
  });
});

describe('a stored catalog', () => {
  async function opened() {
    const sandbox = await startSandbox({ seed: 'tests', tickMs: 0 });
    sandbox.changeCatalog({ ageSeconds: 1_800 });
    const isStored = async () => (await storedFiles()).length === 1;
    return { sandbox, isStored, [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose]() };
  }

  /** What a process answers whose gateway has no catalog; null where nothing stored is for it. */
  async function served(
    gateway: Sandbox,
    environment: Environment = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    await using app = await startTestApp({ ...inFile(), ...environment }, { gateway });
    gateway.fail({ operation: 'getAllTickers', kind: 'status', status: 500 });
    const { data } = await app.query(CATALOG, { token: gateway.token(DEMO), headers });
    gateway.clearFaults();
    return { catalog: data.catalog, logged: app.logged.join('') };
  }

  test('is of one gateway, one set of its headers and one adapter', async () => {
    await using world = await opened();
    await using other = await startSandbox({ seed: 'tests', tickMs: 0 });
    const { sandbox } = world;
    const adapterOf = async (name: string, text: string) => {
      const path = join(folder.path, `${name}.mjs`);
      await writeFile(path, `export default { answer: (_operation, body) => body }; ${text}`);
      return { GATEWAY_ADAPTER: path };
    };
    const headers = { 'x-tenant': 'a' };
    const plain = { GATEWAY_FORWARD_HEADERS: 'x-tenant', GATEWAY_HEADERS: '{"x-key":"one"}' };
    const environment = { ...plain, ...(await adapterOf('a', '')) };
    const first = await startTestApp({ ...inFile(), ...environment }, { gateway: sandbox });
    await first.query(CATALOG, { token: sandbox.token(DEMO), headers });
    // Where nothing is stored, the fetch is the proof as well.
    expect(sandbox.calls('getSession')).toBe(0);
    await eventually(world.isStored);
    await first.close();
    const same = await served(sandbox, environment, headers);
    expect(same.catalog).toMatchObject({ id: 'standard-usd', stale: false });
    const others = [
      await served(other, environment, headers),
      await served(sandbox, { ...environment, GATEWAY_HEADERS: '{}' }, headers),
      await served(sandbox, environment, { 'x-tenant': 'b' }),
      await served(sandbox, environment),
      await served(sandbox, plain, headers),
      await served(sandbox, { ...plain, ...(await adapterOf('b', '// v2')) }, headers),
    ];
    expect(others.map(({ catalog }) => catalog)).toEqual(others.map(() => null));
  });

  test('is none of an adapter that other files are part of: what these have become nobody knows', async () => {
    await using world = await opened();
    const { sandbox } = world;
    await writeFile(join(folder.path, 'other.mjs'), 'export default 1;');
    const adapter = 'export default { answer: (_operation, body) => body };';
    const digests: (string | null)[] = [];
    for (const [name, source] of [
      ['whole.mjs', '// Array.from(imports), required'],
      ['types.ts', "import type { GatewayAdapter } from 'trading-graph/adapter';"],
      ['static.mjs', "import other from './other.mjs';"],
      ['bare.mjs', "import './other.mjs';"],
      ['again.mjs', "export { default as other } from './other.mjs';"],
      ['dynamic.mjs', "const other = await import('./other.mjs');"],
      ['common.cjs', "const other = require('node:path');"],
      ['builtin.mjs', "const other = process.getBuiltinModule('fs');"],
    ] as const) {
      const path = join(folder.path, name);
      const isCommon = name.endsWith('.cjs');
      const own = isCommon ? adapter.replace('export default', 'module.exports =') : adapter;
      await writeFile(path, `${source}\n${own}`);
      digests.push((await readAdapter({ gatewayAdapter: path }))?.digest ?? null);
    }
    expect(digests.map((digest) => digest === null)).toEqual([
      false,
      false,
      ...Array(6).fill(true),
    ]);
    const files = { ...inFile(), GATEWAY_ADAPTER: join(folder.path, 'static.mjs') };
    const app = await startTestApp(files, { gateway: sandbox });
    await app.query(CATALOG, { token: sandbox.token(DEMO) });
    await app.close();
    expect(await storedFiles()).toEqual([]);
  });

  test('is served stale past CATALOG_MAX_AGE_SECONDS, and not past CATALOG_STALE_SECONDS more', async () => {
    await using world = await opened();
    const { sandbox } = world;
    const before = await warm(sandbox, inFile(), world.isStored);
    await before.app.close();
    const aged = (maxAge: number, stale: number) =>
      served(sandbox, {
        CATALOG_MAX_AGE_SECONDS: String(maxAge),
        CATALOG_STALE_SECONDS: String(stale),
      });
    expect((await aged(3_600, 0)).catalog).toMatchObject({ stale: false });
    expect((await aged(1_000, 3_600)).catalog).toMatchObject({ stale: true });
    expect((await aged(1_000, 500)).catalog).toBeNull();
  });

  test('that is damaged, foreign or of tomorrow is ignored, told, and replaced', async () => {
    await using world = await opened();
    const { sandbox } = world;
    const before = await warm(sandbox, inFile(), world.isStored);
    await before.app.close();
    const [path = ''] = await storedFiles();
    const whole = await readFile(path);
    const end = whole.indexOf('\n', 8);
    const about = whole.toString('utf8', 8, end);
    const replaced = (text: string) =>
      Buffer.concat([whole.subarray(0, 8), Buffer.from(text), whole.subarray(end)]);
    const flipped = Buffer.from(whole);
    flipped[end + 40] = (flipped[end + 40] ?? 0) ^ 1;
    const tomorrow = Buffer.from(whole);
    tomorrow.writeDoubleBE(Date.now() + 86_400_000);
    const broken: readonly [Buffer, boolean][] = [
      [Buffer.from('nothing of ours'), true],
      [Buffer.alloc(0), true],
      [whole.subarray(0, -20), true],
      [flipped, true],
      [replaced(about.replace(/"skipped":0/, '"skipped":1')), true],
      [tomorrow, false],
    ];
    for (const [bytes, isTold] of broken) {
      await writeFile(path, bytes);
      const { catalog, logged } = await served(sandbox);
      expect(catalog).toBeNull();
      expect(logged.includes('a stored catalog could not be read')).toBe(isTold);
    }
    await writeFile(path, whole);
    expect((await served(sandbox)).catalog).not.toBeNull();
  });
});
