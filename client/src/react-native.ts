export {
  type AppStateLike,
  type NetInfoLike,
  type NetworkLike,
  type ReactNativeParts,
  reactNative,
} from './react-native/react-native.ts';
