/** Replacements for the parts of React Native's packages that the guide uses, which are not installed here. */
export const STAND_INS = `
declare module 'react-native' {
  import type { ReactNode } from 'react';
  export const AppState: {
    readonly currentState: 'active' | 'background' | 'inactive';
    addEventListener(
      type: 'change',
      listener: (state: 'active' | 'background' | 'inactive') => void,
    ): { remove(): void };
  };
  export function Text(props: { readonly children?: ReactNode }): ReactNode;
  export function FlatList<Item>(props: {
    data: readonly Item[];
    keyExtractor(item: Item): string;
    renderItem(shown: { item: Item }): ReactNode;
  }): ReactNode;
}
declare module 'expo-crypto' {
  export function randomUUID(): string;
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
`;
