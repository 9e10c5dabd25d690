import { expect, test } from 'vitest';
import { createClient } from '../../src/create-client.ts';
import { type ReactNativeParts, reactNative } from '../../src/react-native.ts';

type Network = Parameters<Parameters<ReactNativeParts['NetInfo']['addEventListener']>[0]>[0];

test('the app is visible unless it is in the background, and each return is reported once, until the listener ends', () => {
  const platform = nativePlatform();
  const { lifecycle } = reactNative(platform.parts).environment;
  const reported: string[] = [];
  const ends = [
    lifecycle?.onReturn((why) => reported.push(why ?? 'shown')),
    lifecycle?.onHide(() => reported.push('hidden')),
  ];
  platform.show('inactive');
  expect([lifecycle?.isVisible, reported]).toEqual([true, []]);
  platform.show('background');
  expect([lifecycle?.isVisible, reported]).toEqual([false, ['hidden']]);
  platform.show('active');
  expect(reported).toEqual(['hidden', 'shown']);
  for (const type of ['wifi', 'wifi', 'cellular', 'none', 'cellular']) platform.connect(type);
  // The first report is the change to another network, and the second is the end of the outage. The same wifi is no change.
  expect(reported.slice(2)).toEqual(['online', 'online']);
  for (const end of ends) end?.();
  platform.show('active');
  platform.connect('wifi');
  expect(reported).toHaveLength(4);
  expect(platform.stateListeners.size).toBe(0);
});

test('the app counts as online until the platform reports that there is no network', () => {
  const platform = nativePlatform();
  const { lifecycle } = reactNative(platform.parts).environment;
  expect(lifecycle?.isOnline).toBe(true);
  platform.connect('none');
  expect(lifecycle?.isOnline).toBe(false);
  platform.connect('cellular');
  expect(lifecycle?.isOnline).toBe(true);
});

test('a client keeps its keys in the app’s storage, and makes them with the app’s randomUUID', async () => {
  const { parts } = nativePlatform();
  expect(reactNative(parts).environment).not.toHaveProperty('randomId');
  const id = '0b8e4c1a-5d2f-4c3b-9a7e-6f1d2c3b4a59';
  const { storage, environment } = reactNative({ ...parts, randomUUID: () => id });
  await storage.set('a key', 'text');
  expect(await storage.get('a key')).toBe('text');
  const url = 'http://127.0.0.1:9/graphql';
  const client = createClient({ url, token: () => null, storage, environment });
  const { idempotencyKey, isDurable } = client.orders.ticket();
  expect([idempotencyKey.slice(15), isDurable]).toEqual([id.slice(15), true]);
  client.dispose();
});

/**
 * The parts of React Native and its packages that the client uses: a phone on wifi whose app is open, unless a test changes
 * that.
 */
function nativePlatform() {
  const stateListeners = new Set<(state: string) => void>();
  const networkListeners = new Set<(network: Network) => void>();
  const entries = new Map<string, string>();
  let network: Network = { type: 'wifi', isConnected: true };
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
    /** Changes the type of the phone's network: `none` in flight mode. */
    connect(type: string) {
      network = { type, isConnected: type !== 'none' };
      for (const listener of [...networkListeners]) listener(network);
    },
  };
}
