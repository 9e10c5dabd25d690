import { randomUUID } from 'node:crypto';
import { createContext, runInContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { startedOnce } from '../../../test/support/started.ts';
import type { Client } from '../../src/create-client.ts';
import { startCutProxy } from '../support/cut-proxy.ts';
import { hermesGlobals } from '../support/hermes-globals.ts';
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

/** A phone on which apps are started. */
function createPhone(proxy = line) {
  const entries = new Map<string, string>();
  const written: string[] = [];
  const listeners = new Set<(state: string) => void>();
  const AppState = {
    currentState: 'active',
    addEventListener(_type: 'change', listener: (state: string) => void) {
      listeners.add(listener);
      return { remove: () => listeners.delete(listener) };
    },
  };
  const networkListeners = new Set<(state: object) => void>();
  let network: { type: string; isConnected: boolean } = { type: 'wifi', isConnected: true };
  const NetInfo = {
    addEventListener(listener: (state: object) => void) {
      networkListeners.add(listener);
      listener(network);
      return () => networkListeners.delete(listener);
    },
  };
  const AsyncStorage = {
    getItem: async (key: string) => entries.get(key) ?? null,
    async setItem(key: string, value: string) {
      written.push(key);
      entries.set(key, value);
    },
    removeItem: async (key: string) => void entries.delete(key),
    getAllKeys: async () => [...entries.keys()],
  };
  return {
    /** The keys of all that was ever stored. */
    written,
    show(state: 'active' | 'background') {
      AppState.currentState = state;
      for (const listener of [...listeners]) listener(state);
    },
    /** The type of its network, null in flight mode. */
    connect(type: string | null) {
      network = { type: type ?? 'none', isConnected: type !== null };
      for (const listener of [...networkListeners]) listener(network);
    },
    start(): NativeApp {
      const native = { AppState, AsyncStorage, NetInfo, randomUUID };
      const context = createContext({ ...hermesGlobals(), native });
      const text = script.replaceAll('http://127.0.0.1:4000', proxy.url);
      return runInContext(`${text}\napp;`, context) as NativeApp;
    },
  };
}

test('the client of the guide follows, comes back, and places an order whose key is stored', async () => {
  const phone = createPhone();
  const { tradingGraph, signIn } = phone.start();
  expect(await signIn('demo@example.com', 'demo')).toBe(true);
  const statuses: string[] = [];
  tradingGraph.positions(({ status }) => void statuses.push(status));
  await eventually(() => statuses.at(-1) === 'LIVE');
  phone.show('background');
  await line.refuse();
  await eventually(() => statuses.at(-1) === 'OFFLINE');
  await line.heal();
  phone.show('active');
  await eventually(() => statuses.at(-1) === 'LIVE');
  const ticket = tradingGraph.orders.ticket();
  const input = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
  const outcome = await ticket.place(input);
  expect(outcome.status).toBe('accepted');
  expect(phone.written.length).toBeGreaterThan(0);
  await eventually(() => tradingGraph.positions.state().positions.length === 7);
  tradingGraph.dispose();
});

/** An app that shows live positions, whose line is then as dead as after a change of the address. */
async function startStranded() {
  const proxy = await startCutProxy(app.url);
  const phone = createPhone(proxy);
  const { tradingGraph, signIn } = phone.start();
  expect(await signIn('demo@example.com', 'demo')).toBe(true);
  const statuses: string[] = [];
  tradingGraph.positions(({ status }) => void statuses.push(status));
  await eventually(() => statuses.at(-1) === 'LIVE');
  proxy.strand();
  const isReplaced = () => proxy.upgrades === 2 && statuses.at(-1) === 'LIVE';
  return {
    phone,
    tradingGraph,
    statuses,
    isReplaced,
    async [Symbol.asyncDispose]() {
      tradingGraph.dispose();
      await proxy.close();
    },
  };
}

test('a Buy in flight mode is not placed, at once, and the line is replaced after it', async () => {
  await using stranded = await startStranded();
  const { phone, tradingGraph, isReplaced } = stranded;
  const orders = app.sandbox.orders().length;
  phone.connect(null);
  const input = { symbol: 'AAPL', side: 'BUY', kind: 'MARKET', size: { units: 1 } } as const;
  const outcome = await tradingGraph.orders.ticket().place(input);
  expect(outcome).toMatchObject({ status: 'unsent', error: { code: 'NETWORK' } });
  expect(app.sandbox.orders()).toHaveLength(orders);
  phone.connect('wifi');
  await eventually(isReplaced);
});

test('a phone that goes from one network to another without a moment of none replaces its line', async () => {
  await using stranded = await startStranded();
  const { phone, statuses, isReplaced } = stranded;
  phone.connect('cellular');
  expect(statuses.at(-1)).toBe('OFFLINE');
  await eventually(isReplaced);
  phone.connect('cellular');
  expect(statuses.at(-1)).toBe('LIVE');
});

test('tokens that end are replaced in silence, until the sign-in itself is refused', async () => {
  const phone = createPhone();
  const { tradingGraph, signIn } = phone.start();
  expect(await signIn('demo@example.com', 'demo')).toBe(true);
  const changes: unknown[] = [];
  tradingGraph.onAccountChange((login) => void changes.push(login));
  const statuses: string[] = [];
  tradingGraph.positions(({ status }) => void statuses.push(status));
  await eventually(() => statuses.at(-1) === 'LIVE');
  const signIns = app.sandbox.calls('login');
  app.sandbox.revoke({ login: 700_001 });
  await eventually(() => app.sandbox.calls('login') === signIns + 1);
  await eventually(() => statuses.at(-1) === 'LIVE');
  const { data, errors } = await tradingGraph.query('{ session { login } }');
  expect([data, errors]).toEqual([{ session: { login: '700001' } }, []]);
  expect(changes).toEqual([]);
  app.sandbox.fail({ operation: 'login', kind: 'status', status: 401 });
  app.sandbox.revoke({ login: 700_001 });
  await eventually(() => changes.length > 0);
  expect(changes).toEqual([null]);
  app.sandbox.clearFaults();
  tradingGraph.dispose();
});

test('the programs of the guide compile without the types of the DOM', async () => {
  const names = ['trading-graph.ts', 'Positions.tsx', 'offline-account.ts', 'on-ios.ts'];
  const files = names.map((name) => `src/${name}`);
  expect(await project.compileWithoutDom(files)).toBe('');
});

test('its bundle is a script without what Metro and Hermes do not take', () => {
  expect(script).not.toMatch(/\bimport\s*[.(]|\(\?<[=!]|\/[a-z]*v[a-z]*\.test\(/);
});
