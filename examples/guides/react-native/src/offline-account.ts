import * as SecureStore from 'expo-secure-store';
import { install } from 'react-native-quick-crypto';
import { offlineAccount } from 'trading-graph-client/offline-account';
import { offlineAccountKey } from 'trading-graph-client/react-native';

install(); // the client asks `crypto` for its `subtle`

// A backup does not carry it to another device.
const HERE = { keychainAccessible: SecureStore.WHEN_UNLOCKED_THIS_DEVICE_ONLY };

/** The login is the one that the app has kept with its token; null if it has none. */
export async function offline(login: string | null) {
  return offlineAccount({ key: await offlineAccountKey(SecureStore, HERE), login });
}
