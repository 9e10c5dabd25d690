import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

export const MOBILE_WALLET = f.table('MobileWallet', { phone: f.vital(f.text) });

export const addMobileWallet = write({
  name: 'addMobileWallet',
  number: 8,
  calls: { add: acknowledged('POST', '/payments/client/add-crm-{provider}', MOBILE_WALLET) },
  run: (calls, input: f.SentBy<typeof MOBILE_WALLET.fields>) => {
    const path = { provider: calls.settings.gatewayMobileWallet };
    return calls.acknowledged('add', { path, body: MOBILE_WALLET.toWire(input) });
  },
});
