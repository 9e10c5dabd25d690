import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

export const CRYPTO_WALLET = f.table('CryptoWallet', { address: f.vital(f.text) });

export const addCryptoWallet = write({
  name: 'addCryptoWallet',
  number: 7,
  calls: { add: acknowledged('POST', '/payments/client/add-crm-crypto-wallet', CRYPTO_WALLET) },
  run: (calls, input: f.SentBy<typeof CRYPTO_WALLET.fields>) =>
    calls.acknowledged('add', { body: CRYPTO_WALLET.toWire(input) }),
});
