// What the samples of docs/clients/react-native.md and examples/expo use of the packages of an app, none of which this project
// has: `npm run types` in the example takes their own.

declare const process: { readonly env: { readonly EXPO_PUBLIC_GRAPHQL_URL?: string } };

declare module 'react-native' {
  import type { ReactNode } from 'react';

  type AppStateStatus = 'active' | 'background' | 'extension' | 'inactive' | 'unknown';
  export const AppState: {
    readonly currentState: AppStateStatus;
    addEventListener(type: 'change', listener: (state: AppStateStatus) => void): { remove(): void };
  };
  export const Platform: { readonly OS: 'android' | 'ios' | 'web' };

  interface Parent {
    readonly children?: ReactNode;
    readonly testID?: string;
  }
  export function ScrollView(props: Parent): ReactNode;
  export function View(props: Parent): ReactNode;
  export function Text(props: Parent & { readonly accessibilityRole?: 'alert' }): ReactNode;
  export function TextInput(props: {
    readonly accessibilityLabel: string;
    readonly autoCapitalize?: 'none';
    readonly inputMode?: 'decimal';
    readonly secureTextEntry?: boolean;
    readonly value: string;
    onChangeText(text: string): void;
  }): ReactNode;
  export function FlatList<Item>(props: {
    data: readonly Item[];
    keyExtractor(item: Item): string;
    renderItem(shown: { item: Item }): ReactNode;
  }): ReactNode;
  export function Button(props: {
    readonly title: string;
    readonly disabled?: boolean;
    onPress(): void;
  }): ReactNode;
}

declare module 'expo' {
  import type { ComponentType } from 'react';

  export function registerRootComponent(component: ComponentType): void;
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
  type KeychainAccessibilityConstant = number;
  export const AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: KeychainAccessibilityConstant;
  export const WHEN_UNLOCKED_THIS_DEVICE_ONLY: KeychainAccessibilityConstant;
  interface SecureStoreOptions {
    readonly keychainAccessible?: KeychainAccessibilityConstant;
    readonly requireAuthentication?: boolean;
    readonly authenticationPrompt?: string;
  }
  export function getItemAsync(name: string, options?: SecureStoreOptions): Promise<string | null>;
  export function setItemAsync(
    name: string,
    value: string,
    options?: SecureStoreOptions,
  ): Promise<void>;
  export function deleteItemAsync(name: string, options?: SecureStoreOptions): Promise<void>;
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

declare module '@react-native-async-storage/async-storage' {
  const AsyncStorage: {
    getItem(key: string): Promise<string | null>;
    setItem(key: string, value: string): Promise<void>;
    removeItem(key: string): Promise<void>;
    getAllKeys(): Promise<readonly string[]>;
  };
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

declare module '@testing-library/react-native' {
  import type { ReactNode } from 'react';

  export { act } from 'react';
  export function render(component: ReactNode): Promise<void>;
  export const screen: { getByText(text: string | RegExp): object };
}
declare function test(name: string, run: () => Promise<void>): void;
