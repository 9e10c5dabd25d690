import AsyncStorage from '@react-native-async-storage/async-storage';
import NetInfo from '@react-native-community/netinfo';
import { fetch } from 'expo/fetch';
import { randomUUID } from 'expo-crypto';
import * as SecureStore from 'expo-secure-store';
import { AppState, Platform } from 'react-native';
import { install } from 'react-native-quick-crypto';
import { createClientWith } from 'trading-graph-client/core';
import { live } from 'trading-graph-client/live';
import { offlineAccount } from 'trading-graph-client/offline-account';
import { orders } from 'trading-graph-client/orders';
import { offlineAccountKey, reactNative } from 'trading-graph-client/react-native';
import { freshToken, heldLogin, ON_THIS_PHONE, openSession, signOut, URL } from './session';

export type TradingGraph = Awaited<ReturnType<typeof openTradingGraph>>;

/** Made once. It has no catalog: Metro packs what is imported. */
export async function openTradingGraph() {
  await openSession();
  install(); // `offlineAccount` asks `crypto` for its `subtle`
  const key = await offlineAccountKey(SecureStore, ON_THIS_PHONE);
  return createClientWith(
    {
      url: URL,
      token: freshToken,
      // By its hint the first line waits for no answer.
      login: heldLogin,
      onSignedOut: () => void signOut(),
      ...reactNative({ AppState, NetInfo, AsyncStorage, randomUUID, fetch, Platform }),
    },
    live({
      positionFields: ['symbol', 'digits', 'priceCurrent', 'profit'],
      orderFields: [],
      sessionFields: ['id', 'login', 'balance', 'equity', 'currency'],
      offlineAccount: offlineAccount({ key, login: heldLogin() }),
    }),
    orders(),
  );
}
