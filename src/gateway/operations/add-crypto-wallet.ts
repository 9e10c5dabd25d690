import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { ACKNOWLEDGED } from './acknowledged.ts';

const BODY = f.table('CryptoWallet', { address: f.vital(f.text) });

export const addCryptoWallet = write({
  name: 'addCryptoWallet',
  number: 7,
  backend: 'payments',
  calls: {
    add: {
      method: 'POST',
      path: '/payments/client/add-crm-crypto-wallet',
      body: BODY.shape,
      answer: ACKNOWLEDGED.shape,
    },
  },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => calls.acknowledged('add', { body }),
});
