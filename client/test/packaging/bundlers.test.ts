import { execFile } from 'node:child_process';
import { webcrypto } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { bundleByMetro, bundlers } from '../support/bundlers.ts';
import { metroSizes, namedSizes } from '../support/client-sizes.ts';
import { hermesGlobals } from '../support/hermes-globals.ts';
import { appOfAll, type PackedClient, packClient, phoneEntries } from '../support/packed-client.ts';

// npm installs five hundred packages.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 600_000 });

const CLIENT = '/node_modules/trading-graph-client/';

const APP = `
import { createClientWith } from 'trading-graph-client/core';
import { live } from 'trading-graph-client/live';
${appOfAll()}
globalThis.names = entries.map((entry) => Object.keys(entry).length);
globalThis.follow = async (url, token) => {
  const client = createClientWith({ url, token: () => token }, live());
  const { data } = await client.query('{ session { login } }');
  const status = await new Promise((resolve) => {
    client.positions(({ status }) => status === 'LIVE' && resolve(status));
  });
  client.dispose();
  return JSON.stringify({ data, status });
};
`;

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** What the example imports of React Native and Expo, as far as it is used before anything is shown. */
const PHONE_MODULES = {
  'react-native': `
export const AppState = { currentState: 'active', addEventListener: () => ({ remove() {} }) };
export const Platform = { OS: 'ios' };
export const [Button, ScrollView, Text, TextInput, View] = ['Button', 'ScrollView', 'Text', 'TextInput', 'View'];`,
  expo: 'export const registerRootComponent = (root) => { globalThis.root = root; };',
  'expo/fetch': 'export const fetch = globalThis.fetch;',
  'expo-crypto': `export const randomUUID = () => 'an-id';`,
  'expo-secure-store': `
export const getItemAsync = async () => null;
export const setItemAsync = async () => {};`,
  'react-native-quick-crypto': 'export const install = () => {};',
  '@react-native-async-storage/async-storage': `
const nothing = async () => null;
export default { getItem: nothing, setItem: nothing, removeItem: nothing, getAllKeys: async () => [] };`,
  '@react-native-community/netinfo': 'export default { addEventListener: () => () => {} };',
};

interface Phone {
  readonly names: readonly number[];
  follow(url: string, token: string): Promise<string>;
}

let packed: PackedClient;
const app = sharedApp({ POSITIONS_POLL_MS: '100' });

beforeAll(async () => {
  packed = await packClient();
  await bundlers();
});
afterAll(() => packed?.[Symbol.dispose]());

test.each([
  ['0.81, which reads no `exports`', 'metro-oldest'],
  ['0.87, which reads them', 'metro'],
] as const)('Metro %s bundles each entry, and each module once', async (_version, name) => {
  packed.write('index.js', APP);
  const modules = await bundleByMetro(name, packed, 'index.js');
  const own = modules.flatMap(({ path }) => path.split(CLIENT)[1] ?? []);
  const names = own.map((path) => path.replace('dist/cjs/', 'dist/'));
  expect(names.length).toBeGreaterThan(80);
  expect(names.filter((path, at) => names.indexOf(path) !== at)).toEqual([]);
  if (name === 'metro') {
    // What it names is written by a script, and stands for a while.
    for (const [at, { what, bytes }] of metroSizes(modules).entries()) {
      const named = namedSizes('Metro')[at]?.bytes ?? 0;
      expect(Math.abs(named - bytes), `${what} in the README: ${bytes} B`).toBeLessThan(300);
    }
  }
  const phone = createContext(hermesGlobals()) as Phone;
  runInContext(readFileSync(join(packed.app, 'index.js.bundle.js'), 'utf8'), phone);
  expect(phone.names.filter((count) => count === 0)).toEqual([]);
  const token = app.sandbox.token({ email: 'demo@example.com' });
  expect(JSON.parse(await phone.follow(`${app.url}/graphql`, token))).toEqual({
    data: { session: { login: '700001' } },
    status: 'LIVE',
  });
});

test('Metro bundles the example with Expo without what it does not use, and it starts', async () => {
  cpSync(join(ROOT, 'examples', 'expo', 'src'), join(packed.app, 'src'), { recursive: true });
  for (const [name, text] of Object.entries(PHONE_MODULES)) {
    const folder = join(packed.app, 'node_modules', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'index.js'), text);
  }
  const modules = await bundleByMetro('metro', packed, 'src/index.ts');
  const own = modules.flatMap(({ path }) => path.split(CLIENT)[1] ?? []);
  expect(own).toContain('dist/react-native.js');
  expect(own.filter((path) => /\/(catalog|apollo)\//.test(path))).toEqual([]);
  const phone = createContext({ ...hermesGlobals(), crypto: webcrypto });
  runInContext(readFileSync(join(packed.app, 'src', 'index.ts.bundle.js'), 'utf8'), phone);
  expect(phone.root).toBeTypeOf('function');
});

test('a test under Jest uses the client as it is installed', async () => {
  packed.write(
    'order.test.js',
    `
const { createClient } = require('trading-graph-client');
const { memoryStorage } = require('trading-graph-client/memory');
${phoneEntries()
  .map((entry) => `require('${entry}');`)
  .join('\n')}
test('an order ends', async () => {
  const { URL, TOKEN } = process.env;
  const client = createClient({ url: URL, token: () => TOKEN, storage: memoryStorage() });
  const outcome = await client.orders.ticket().place(
    { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } },
  );
  expect(outcome.status).toBe('accepted');
  client.dispose();
});
`,
  );
  // No file is transformed, as those of packages are not by Jest's own settings and React Native's.
  const options = JSON.stringify({ rootDir: packed.app, testEnvironment: 'node', transform: {} });
  const jest = join(await bundlers(), 'node_modules', 'jest', 'bin', 'jest.js');
  const token = app.sandbox.token({ email: 'demo@example.com' });
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [jest, '--config', options, '--watchman=false', '--ci'],
    {
      cwd: packed.app,
      env: { ...process.env, NODE_ENV: 'test', URL: `${app.url}/graphql`, TOKEN: token },
    },
  );
  expect(stderr).toMatch(/1 passed/);
});
