import type { OfflineAccountOptions } from '../offline-account.ts';

/** The methods that are used of `expo-secure-store`, or of another keychain. */
export interface SecureStoreLike<Options> {
  getItemAsync(name: string, options?: Options): Promise<string | null>;
  setItemAsync(name: string, value: string, options?: Options): Promise<void>;
}

const NAME = 'trading-graph-offline-account';
const BYTES = 32;

/**
 * The key of `offlineAccount`, which is made once and stays in the device's keychain. The options should keep it out of
 * backups. It wants Web Crypto, which Hermes has not: `react-native-quick-crypto` installs it.
 */
export async function offlineAccountKey<Options>(
  store: SecureStoreLike<Options>,
  options?: Options,
): Promise<OfflineAccountOptions['key']> {
  if (globalThis.crypto?.subtle === undefined)
    throw new Error('This platform has no `crypto.subtle`: install react-native-quick-crypto.');
  const kept = await store.getItemAsync(NAME, options);
  const hex = kept ?? hexOf(crypto.getRandomValues(new Uint8Array(BYTES)));
  if (kept === null) await store.setItemAsync(NAME, hex, options);
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
