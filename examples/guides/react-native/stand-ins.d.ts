// Stand for the packages of an app, with which the samples of docs/clients/react-native.md are compiled here.
declare module 'react-native' {
  type AppStateStatus = 'active' | 'background' | 'inactive';
  export const AppState: {
    readonly currentState: AppStateStatus;
    addEventListener(type: 'change', listener: (state: AppStateStatus) => void): { remove(): void };
  };
  export const Platform: { readonly OS: 'ios' | 'android' | 'web' };

  import type { ReactNode } from 'react';
  export function Text(props: { children?: ReactNode }): ReactNode;
  export function FlatList<Item>(props: {
    data: readonly Item[];
    keyExtractor(item: Item): string;
    renderItem(shown: { item: Item }): ReactNode;
  }): ReactNode;
}
declare module '@react-native-async-storage/async-storage' {
  const AsyncStorage: import('trading-graph-client/async-storage').AsyncStorageLike;
  export default AsyncStorage;
}
declare module '@react-native-community/netinfo' {
  interface NetInfoState {
    readonly type: string;
    readonly isConnected: boolean | null;
    readonly details: object | null;
  }
  const NetInfo: { addEventListener(listener: (state: NetInfoState) => void): () => void };
  export default NetInfo;
}
declare module 'expo/fetch' {
  interface FetchRequestInit {
    readonly body?: string | null;
    readonly headers?: Readonly<Record<string, string>>;
    readonly method?: string;
    readonly signal?: object;
  }
  export function fetch(url: string, init?: FetchRequestInit): Promise<{ readonly status: number }>;
}
declare module 'expo-crypto' {
  export function randomUUID(): string;
}
declare module 'expo-secure-store' {
  export const WHEN_UNLOCKED_THIS_DEVICE_ONLY: number;
  interface Options {
    readonly keychainAccessible: number;
  }
  export function getItemAsync(name: string, options?: Options): Promise<string | null>;
  export function setItemAsync(name: string, value: string, options?: Options): Promise<void>;
}
declare module 'react-native-quick-crypto' {
  export function install(): void;
  export function getRandomValues(bytes: Uint8Array): Uint8Array;
  class CryptoKey {
    get algorithm(): { name: 'AES-GCM'; length?: number };
  }
  type Usage = 'encrypt' | 'decrypt';
  export const subtle: {
    importKey(
      format: 'raw',
      data: Uint8Array,
      algorithm: 'AES-GCM',
      extractable: boolean,
      usages: Usage[],
    ): Promise<CryptoKey>;
  };
}
declare module '@testing-library/react-native' {
  import type { ReactNode } from 'react';

  export { act } from 'react';
  export function render(component: ReactNode): Promise<void>;
  export const screen: { getByText(text: string | RegExp): object };
}
declare function test(name: string, run: () => Promise<void>): void;
