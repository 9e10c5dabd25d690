import { randomUUID } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { startedOnce } from '../../../test/support/started.ts';
import type { Client } from '../../src/create-client.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { hermesGlobals } from '../support/hermes-globals.ts';
import { nativePlatform } from '../support/native-platform.ts';
import { createSampleProject, type SampleProject } from '../support/sample-project.ts';

const MODULES = {
  'react-native': 'export const AppState = globalThis.native.AppState;',
  '@react-native-community/netinfo': 'export default globalThis.native.NetInfo;',
  '@react-native-async-storage/async-storage': 'export default globalThis.native.AsyncStorage;',
  'expo-crypto': 'export const randomUUID = () => globalThis.native.randomUUID();',
};

interface NativeApp {
  readonly tradingGraph: Client;
  signIn(email: string, password: string): Promise<boolean>;
}

let project: SampleProject;
const app = sharedApp({ POSITIONS_POLL_MS: '100' });
const line = startedOnce(() => startCutProxy(app.url));
let script: string;

beforeAll(async () => {
  project = await createSampleProject('docs/clients/react-native.md');
  for (const [name, text] of Object.entries(MODULES)) {
    project.write(`node_modules/${name}/index.js`, text);
    project.write(`node_modules/${name}/package.json`, '{ "main": "index.js", "type": "module" }');
  }
  script = await project.bundle('src/trading-graph.ts');
});
afterAll(() => project?.[Symbol.dispose]());

/** A phone on which the app is started, and signed in. */
async function startApp(proxy = line) {
  const phone = nativePlatform();
  const native = { ...phone.parts, randomUUID };
  const context = createContext({ ...hermesGlobals(), native });
  const text = script.replaceAll('http://127.0.0.1:4000', proxy.url);
  const { tradingGraph, signIn } = runInContext(`${text}\napp;`, context) as NativeApp;
  expect(await signIn('demo@example.com', 'demo')).toBe(true);
  const statuses: string[] = [];
  tradingGraph.positions(({ status }) => void statuses.push(status));
  const is = (status: string) => statuses.at(-1) === status;
  await eventually(() => is('LIVE'));
  return { phone, tradingGraph, is, [Symbol.dispose]: () => tradingGraph.dispose() };
}

const ORDER = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;

test('the client of the guide follows, comes back, and places an order whose key is stored', async () => {
  using started = await startApp();
  const { phone, tradingGraph, is } = started;
  phone.show('background');
  await line.refuse();
  await eventually(() => is('OFFLINE'));
  await line.heal();
  phone.show('active');
  await eventually(() => is('LIVE'));
  expect((await tradingGraph.orders.ticket().place(ORDER)).status).toBe('accepted');
  expect(phone.written.length).toBeGreaterThan(0);
  await eventually(() => tradingGraph.positions.state().positions.length === 7);
});

/** The app on a line that is then as dead as after a change of the address. */
async function startStranded() {
  const proxy = await startCutProxy(app.url);
  onTestFinished(() => proxy.close());
  const started = await startApp(proxy);
  proxy.strand();
  return { ...started, isReplaced: () => proxy.upgrades === 2 && started.is('LIVE') };
}

test('a Buy in flight mode is not placed, at once, and the line is replaced after it', async () => {
  using stranded = await startStranded();
  const { phone, tradingGraph, isReplaced } = stranded;
  const orders = app.sandbox.orders().length;
  phone.connect('none');
  const outcome = await tradingGraph.orders.ticket().place(ORDER);
  expect(outcome).toMatchObject({ status: 'unsent', error: { code: 'NETWORK' } });
  expect(app.sandbox.orders()).toHaveLength(orders);
  phone.connect('wifi');
  await eventually(isReplaced);
});

test('a phone that goes from one network to another without a moment of none replaces its line', async () => {
  using stranded = await startStranded();
  const { phone, is, isReplaced } = stranded;
  phone.connect('cellular');
  expect(is('OFFLINE')).toBe(true);
  await eventually(isReplaced);
  phone.connect('cellular');
  expect(is('LIVE')).toBe(true);
});

test('tokens that end are replaced in silence, until the sign-in itself is refused', async () => {
  using started = await startApp();
  const { tradingGraph, is } = started;
  const changes: unknown[] = [];
  tradingGraph.onAccountChange((login) => void changes.push(login));
  const signIns = app.sandbox.calls('login');
  app.sandbox.revoke({ login: 700_001 });
  await eventually(() => app.sandbox.calls('login') === signIns + 1);
  await eventually(() => is('LIVE'));
  const { data, errors } = await tradingGraph.query('{ session { login } }');
  expect([data, errors]).toEqual([{ session: { login: '700001' } }, []]);
  expect(changes).toEqual([]);
  app.sandbox.fail({ operation: 'login', kind: 'status', status: 401 });
  app.sandbox.revoke({ login: 700_001 });
  await eventually(() => changes.length > 0);
  expect(changes).toEqual([null]);
  app.sandbox.clearFaults();
});

test('the programs of the guide compile without the types of the DOM', async () => {
  const names = ['trading-graph.ts', 'Positions.tsx', 'offline-account.ts', 'on-ios.ts'];
  const files = names.map((name) => `src/${name}`);
  expect(await project.compileWithoutDom(files)).toBe('');
});

test('its bundle is a script without what Metro and Hermes do not take', () => {
  expect(script).not.toMatch(/\bimport\s*[.(]|\(\?<[=!]|\/[a-z]*v[a-z]*\.test\(/);
});
