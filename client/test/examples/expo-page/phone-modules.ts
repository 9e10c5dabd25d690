/** The modules of React Native and Expo that the example imports, and the files that stand for them where it runs in a page. */
export const PHONE_MODULES: Readonly<Record<string, string>> = {
  'react-native': 'react-native.ts',
  expo: 'expo.ts',
  'expo/fetch': 'expo-fetch.ts',
  'expo-crypto': 'expo-crypto.ts',
  'expo-secure-store': 'expo-secure-store.ts',
  'react-native-quick-crypto': 'quick-crypto.ts',
  '@react-native-async-storage/async-storage': 'async-storage.ts',
  '@react-native-community/netinfo': 'netinfo.ts',
};
