import type { ReactNativeParts } from '../../src/react-native.ts';

type Network = Parameters<Parameters<ReactNativeParts['NetInfo']['addEventListener']>[0]>[0];

/** React Native and its packages as far as the client uses them: a phone on wifi whose app is open, until a test says otherwise. */
export function nativePlatform() {
  const stateListeners = new Set<(state: string) => void>();
  const networkListeners = new Set<(network: Network) => void>();
  const entries = new Map<string, string>();
  const written: string[] = [];
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
    async setItem(key: string, value: string) {
      written.push(key);
      entries.set(key, value);
    },
    removeItem: async (key: string) => void entries.delete(key),
    getAllKeys: async () => [...entries.keys()],
  };
  return {
    parts: { AppState, NetInfo, AsyncStorage } satisfies ReactNativeParts,
    /** The keys of all that was ever stored. */
    written: written as readonly string[],
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
