export { offlineAccountKey, type SecureStoreLike } from './react-native/offline-account-key.ts';
export {
  type AppStateLike,
  type NetInfoLike,
  type NetworkLike,
  type ReactNativeParts,
  reactNative,
} from './react-native/react-native.ts';
