import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

const BODY = f.table('CryptoWallet', { address: f.vital(f.text) });

export const addCryptoWallet = write({
  name: 'addCryptoWallet',
  number: 7,
  calls: { add: acknowledged('POST', '/payments/client/add-crm-crypto-wallet', BODY) },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => calls.acknowledged('add', { body }),
});
