import type { Environment, Lifecycle } from '../environment.ts';
import { type AsyncStorageLike, asyncStorage } from '../storage/async-storage.ts';
import type { ClientStorage } from '../storage.ts';
import { hermesRouteHint as routeHint } from './route-hint.ts';

/** The methods that are used of React Native's `AppState`. */
export interface AppStateLike {
  readonly currentState?: string | null;
  addEventListener(type: 'change', listener: (state: string) => void): { remove(): void };
}

/** The state of the network, as `@react-native-community/netinfo` tells it. */
export interface NetworkLike {
  readonly type: string;
  readonly isConnected: boolean | null;
  readonly details?: unknown;
}

/** The method that is used of the default export of `@react-native-community/netinfo`. */
export interface NetInfoLike {
  addEventListener(listener: (state: NetworkLike) => void): () => void;
}

/** The modules of the platform, as the app imports them. */
export interface ReactNativeParts {
  readonly AppState: AppStateLike;
  readonly NetInfo: NetInfoLike;
  readonly AsyncStorage: AsyncStorageLike;
  /** Another one, for the keys of orders: `createAsyncStorage('orders')` of version 3. The catalog takes most of Android's 6 MB of one. */
  readonly OrderStorage?: AsyncStorageLike;
  /** The function of `expo-crypto`; left out, `crypto.getRandomValues` makes the ids, as `react-native-get-random-values` gives it. */
  readonly randomUUID?: () => string;
  /** One that gives streams, such as that of `expo/fetch`; left out, React Native's own, which gives none. */
  readonly fetch?: (url: string, init?: never) => Promise<unknown>;
  /** With it and such a `fetch` event streams are tried first on iOS, whose sockets pack nothing. */
  readonly Platform?: { readonly OS: string };
}

const SLOW = new Set(['2g', '3g']);

/** The options of `createClient` that differ on React Native: `createClient({ …, ...reactNative({ … }) })`, called once. */
export function reactNative({ AppState, NetInfo, AsyncStorage, ...own }: ReactNativeParts): {
  readonly storage: ClientStorage;
  readonly orderStorage?: ClientStorage;
  readonly environment: Partial<Environment>;
} {
  const { fetch, Platform, randomUUID: randomId, OrderStorage } = own;
  const network = followNetwork(NetInfo);
  const on = (wanted: string, listener: () => void) => {
    const subscription = AppState.addEventListener('change', (state) => {
      if (state === wanted) listener();
    });
    return () => subscription.remove();
  };
  const lifecycle: Lifecycle = {
    // iOS calls an app inactive while a call or a sheet covers it: it is still seen.
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
    ...(OrderStorage && { orderStorage: asyncStorage(OrderStorage) }),
    environment: {
      lifecycle,
      isSlowLine: network.isSlow,
      routeHint,
      ...(randomId && { randomId }),
      ...(fetch && {
        // The client gives it texts for addresses only; Expo's types lack `URL`.
        fetch: fetch as typeof globalThis.fetch,
        prefersStreams: Platform?.OS === 'ios',
      }),
    },
  };
}

function followNetwork(NetInfo: NetInfoLike) {
  /** Null before the platform has said anything. */
  let network: NetworkLike | null = null;
  const listeners = new Set<() => void>();
  NetInfo.addEventListener((state) => {
    const before = network;
    network = state;
    // Another network is a return as well: the lines of the one before are dead, and nobody says so.
    if (state.isConnected === false || before === null) return;
    if (before.isConnected !== false && before.type === state.type) return;
    for (const listener of [...listeners]) listener();
  });
  return {
    // A Buy that is tapped in flight mode is not sent, and is said to be not placed at once.
    isOnline: () => network?.isConnected !== false,
    isSlow: () => {
      const { cellularGeneration } = Object(network?.details) as { cellularGeneration?: unknown };
      return network?.type === 'cellular' && SLOW.has(String(cellularGeneration));
    },
    onOnline(listener: () => void) {
      const own = () => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
}
