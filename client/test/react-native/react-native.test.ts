import { webcrypto } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import { createClient } from '../../src/create-client.ts';
import { offlineAccountKey, type ReactNativeParts, reactNative } from '../../src/react-native.ts';

type Network = Parameters<Parameters<ReactNativeParts['NetInfo']['addEventListener']>[0]>[0];

afterEach(() => vi.unstubAllGlobals());

test('the app is seen unless it is in the background, and tells of each return once, until nobody listens', () => {
  const platform = nativePlatform();
  const { lifecycle } = reactNative(platform.parts).environment;
  const heard: string[] = [];
  const ends = [
    lifecycle?.onReturn((why) => heard.push(why ?? 'shown')),
    lifecycle?.onHide(() => heard.push('hidden')),
  ];
  platform.show('inactive');
  expect([lifecycle?.isVisible, heard]).toEqual([true, []]);
  platform.show('background');
  expect([lifecycle?.isVisible, heard]).toEqual([false, ['hidden']]);
  platform.show('active');
  expect(heard).toEqual(['hidden', 'shown']);
  for (const type of ['wifi', 'wifi', 'cellular', 'none', 'cellular']) platform.connect(type);
  // The first word of the platform is no return.
  expect(heard.slice(2)).toEqual(['online', 'online']);
  for (const end of ends) end?.();
  platform.show('active');
  platform.connect('wifi');
  expect(heard).toHaveLength(4);
  expect(platform.stateListeners.size).toBe(0);
});

test('there is a network unless the platform says that there is none, and 2G and 3G are slow', () => {
  const platform = nativePlatform();
  const { environment } = reactNative(platform.parts);
  const both = () => [environment.lifecycle?.isOnline, environment.isSlowLine?.()];
  expect(both()).toEqual([true, false]);
  for (const [type, generation, ...expected] of [
    ['none', undefined, false, false],
    ['wifi', undefined, true, false],
    ['cellular', '2g', true, true],
    ['cellular', '3g', true, true],
    ['cellular', '4g', true, false],
    ['cellular', undefined, true, false],
  ] as const) {
    platform.connect(type, generation);
    expect(both(), `${type} ${generation}`).toEqual(expected);
  }
});

test('ids are those of the app where it gives them, and event streams come first on iOS where `fetch` gives them', () => {
  const { parts } = nativePlatform();
  expect(reactNative(parts).environment).not.toHaveProperty('randomId');
  const randomUUID = () => 'an-id';
  expect(reactNative({ ...parts, randomUUID }).environment.randomId?.()).toBe('an-id');
  const prefers = (OS: string, more: object = { fetch }) =>
    reactNative({ ...parts, ...more, Platform: { OS } }).environment.prefersStreams === true;
  expect([prefers('ios'), prefers('android'), prefers('ios', {})]).toEqual([true, false, false]);
});

test('the keys of orders go into a store of their own where there is one', async () => {
  const { parts } = nativePlatform();
  const { storage, ...others } = reactNative(parts);
  await storage.set('a key', 'text');
  expect(await storage.get('a key')).toBe('text');
  expect(others).not.toHaveProperty('orderStorage');
  const kept = new Map<string, string>();
  const setItem = async (key: string, text: string) => void kept.set(key, text);
  const { orderStorage } = reactNative({
    ...parts,
    OrderStorage: { ...parts.AsyncStorage, setItem },
  });
  await orderStorage?.set('a key', 'text');
  expect(kept.size).toBe(1);
  const client = createClient({
    url: 'http://127.0.0.1:9/graphql',
    token: () => null,
    ...reactNative({ ...parts, randomUUID: () => 'an-id' }),
    ...(orderStorage && { orderStorage }),
  });
  expect(client.orders.ticket()).toMatchObject({ idempotencyKey: 'an-id', isDurable: true });
  client.dispose();
});

test('the key of the offline account is made once, and kept where the app says', async () => {
  const kept = new Map<string, unknown[]>();
  const store = {
    getItemAsync: async (name: string) => (kept.get(name)?.[0] as string) ?? null,
    setItemAsync: async (name: string, ...rest: unknown[]) => void kept.set(name, rest),
  };
  const options = { keychainAccessible: 6 };
  const iv = new Uint8Array(12);
  const keyOf = async () => (await offlineAccountKey(store, options)) as CryptoKey;
  const first = await keyOf();
  const secret = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, first, new Uint8Array([7]));
  const second = await keyOf();
  const opened = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, second, secret);
  expect([...new Uint8Array(opened)]).toEqual([7]);
  expect([first.extractable, first.algorithm]).toEqual([false, { name: 'AES-GCM', length: 256 }]);
  expect([...kept.values()]).toEqual([[expect.stringMatching(/^[\da-f]{64}$/), options]]);
  vi.stubGlobal('crypto', { getRandomValues: webcrypto.getRandomValues.bind(webcrypto) });
  await expect(offlineAccountKey(store)).rejects.toThrow('react-native-quick-crypto');
});

/** React Native and its packages as far as the client uses them: a phone on wifi whose app is open, until a test says otherwise. */
function nativePlatform() {
  const stateListeners = new Set<(state: string) => void>();
  const networkListeners = new Set<(network: Network) => void>();
  const entries = new Map<string, string>();
  let network: Network = { type: 'wifi', isConnected: true, details: {} };
  const AppState = {
    currentState: 'active',
    addEventListener(_type: 'change', listener: (state: string) => void) {
      stateListeners.add(listener);
      return { remove: () => stateListeners.delete(listener) };
    },
  };
  const NetInfo = {
    addEventListener(listener: (network: Network) => void) {
      networkListeners.add(listener);
      listener(network);
      return () => void networkListeners.delete(listener);
    },
  };
  const AsyncStorage = {
    getItem: async (key: string) => entries.get(key) ?? null,
    setItem: async (key: string, value: string) => void entries.set(key, value),
    removeItem: async (key: string) => void entries.delete(key),
    getAllKeys: async () => [...entries.keys()],
  };
  return {
    parts: { AppState, NetInfo, AsyncStorage } satisfies ReactNativeParts,
    stateListeners: stateListeners as ReadonlySet<unknown>,
    show(state: 'active' | 'inactive' | 'background') {
      AppState.currentState = state;
      for (const listener of [...stateListeners]) listener(state);
    },
    /** The type of its network, `none` in flight mode. */
    connect(type: string, cellularGeneration?: string) {
      network = { type, isConnected: type !== 'none', details: { cellularGeneration } };
      for (const listener of [...networkListeners]) listener(network);
    },
  };
}
