import AsyncStorage from '@react-native-async-storage/async-storage';
import NetInfo from '@react-native-community/netinfo';
import { fetch } from 'expo/fetch';
import { randomUUID } from 'expo-crypto';
import { AppState, Platform } from 'react-native';
import { reactNative } from 'trading-graph-client/react-native';

export const platform = reactNative({
  AppState,
  NetInfo,
  AsyncStorage,
  randomUUID,
  fetch,
  Platform,
});
