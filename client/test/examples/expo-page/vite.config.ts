import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const example = join(import.meta.dirname, '..', '..', '..', '..', 'examples', 'expo');
/** The modules of React Native and Expo that the example imports, and the files that stand for them where it runs in a page. */
const PHONE_MODULES = {
  'react-native': 'react-native.ts',
  expo: 'expo.ts',
  'expo/fetch': 'expo-fetch.ts',
  'expo-crypto': 'expo-crypto.ts',
  'expo-secure-store': 'expo-secure-store.ts',
  'react-native-quick-crypto': 'quick-crypto.ts',
  '@react-native-async-storage/async-storage': 'async-storage.ts',
  '@react-native-community/netinfo': 'netinfo.ts',
};
const files = Object.entries(PHONE_MODULES).map(([name, file]) => ({
  find: new RegExp(`^${name}$`),
  replacement: join(import.meta.dirname, 'phone', file),
}));

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: [...files, { find: 'the-example', replacement: join(example, 'src/index.ts') }],
  },
  // Metro puts in the app's own variables.
  define: { 'process.env.EXPO_PUBLIC_GRAPHQL_URL': 'globalThis.graphqlUrl' },
});
