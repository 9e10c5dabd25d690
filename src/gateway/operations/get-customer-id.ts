import { read } from '../define-operation.ts';
import * as f from '../fields.ts';

export const CUSTOMER_ID = f.table('CustomerId', { customerId: f.vital(f.text) });

export const getCustomerId = read({
  name: 'getCustomerId',
  number: 13,
  area: 'rest',
  proves: 'token',
  calls: {
    get: { method: 'GET', path: '/payments/client/customer-id', answer: CUSTOMER_ID.shape },
  },
  run: async (calls) => calls.read(await calls.send('get'), CUSTOMER_ID).customerId,
});
