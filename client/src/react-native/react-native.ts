import type { Environment, Lifecycle } from '../environment.ts';
import { type AsyncStorageLike, asyncStorage } from '../storage/async-storage.ts';
import type { ClientStorage } from '../storage.ts';

/** The part of React Native's `AppState` that is used. */
export interface AppStateLike {
  readonly currentState?: string | null | undefined;
  addEventListener(type: 'change', listener: (state: string) => void): { remove(): void };
}

/** The state of the network, as `@react-native-community/netinfo` reports it. */
export interface NetworkLike {
  readonly type: string;
  readonly isConnected: boolean | null;
}

/** The part of the default export of `@react-native-community/netinfo` that is used. */
export interface NetInfoLike {
  addEventListener(listener: (state: NetworkLike) => void): () => void;
}

/** The modules of the platform, as the app imports them. */
export interface ReactNativeParts {
  readonly AppState: AppStateLike;
  readonly NetInfo: NetInfoLike;
  readonly AsyncStorage: AsyncStorageLike;
  /**
   * The function of `expo-crypto`. By default ids come from `crypto.getRandomValues`, which `react-native-get-random-
   * values` provides.
   */
  readonly randomUUID?: (() => string) | undefined;
}

/** The options of `createClient` that differ on React Native: `createClient({ …, ...reactNative({ … }) })`. Call it once. */
export function reactNative({ AppState, NetInfo, AsyncStorage, randomUUID }: ReactNativeParts): {
  readonly storage: ClientStorage;
  readonly environment: Partial<Environment>;
} {
  const network = followNetwork(NetInfo);
  const on = (wanted: string, listener: () => void) => {
    const subscription = AppState.addEventListener('change', (state) => {
      if (state === wanted) listener();
    });
    return () => subscription.remove();
  };
  const lifecycle: Lifecycle = {
    // iOS calls an app inactive while a call or a sheet covers it: it is still visible.
    get isVisible() {
      return AppState.currentState !== 'background';
    },
    get isOnline() {
      return network.isOnline();
    },
    onReturn(listener) {
      const ends = [on('active', () => listener()), network.onOnline(() => listener('online'))];
      return () => {
        for (const end of ends) end();
      };
    },
    onHide: (listener) => on('background', listener),
  };
  return {
    storage: asyncStorage(AsyncStorage),
    environment: { lifecycle, ...(randomUUID && { randomId: randomUUID }) },
  };
}

function followNetwork(NetInfo: NetInfoLike) {
  /** Null before the platform's first report. */
  let network: NetworkLike | null = null;
  const listeners = new Set<() => void>();
  NetInfo.addEventListener((state) => {
    const before = network;
    network = state;
    if (state.isConnected === false || before === null) return;
    if (before.isConnected !== false && before.type === state.type) return;
    // A change of network counts as a return, because the connections of the former network are dead without an event.
    for (const listener of [...listeners]) listener();
  });
  return {
    // In flight mode this is false, so that a tapped order is reported as unsent at once.
    isOnline: () => network?.isConnected !== false,
    onOnline(listener: () => void) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
