import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { acknowledged } from './acknowledged.ts';

const BODY = f.table('MobileWallet', { phone: f.vital(f.text) });

export const addMobileWallet = write({
  name: 'addMobileWallet',
  number: 8,
  calls: { add: acknowledged('POST', '/payments/client/add-crm-{provider}', BODY) },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => {
    const path = { provider: calls.settings.gatewayMobileWallet };
    return calls.acknowledged('add', { path, body });
  },
});
