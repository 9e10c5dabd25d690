import { write } from '../define-operation.ts';
import * as f from '../fields.ts';
import { ACKNOWLEDGED } from './acknowledged.ts';

const BODY = f.table('MobileWallet', { phone: f.vital(f.text) });

export const addMobileWallet = write({
  name: 'addMobileWallet',
  number: 8,
  backend: 'payments',
  calls: {
    add: {
      method: 'POST',
      path: '/payments/client/add-crm-{provider}',
      body: BODY.shape,
      answer: ACKNOWLEDGED.shape,
    },
  },
  run: (calls, body: f.WireOf<typeof BODY.fields>) => {
    const path = { provider: calls.settings.gatewayMobileWallet };
    return calls.acknowledged('add', { path, body });
  },
});
