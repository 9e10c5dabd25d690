import { read } from '../define-operation.ts';
import * as f from '../fields.ts';
import type { Reading } from '../wire/scalars.ts';

const ANSWER = f.table('CustomerId', { customerId: f.vital(f.text) });

export const getCustomerId = read({
  name: 'getCustomerId',
  number: 13,
  backend: 'payments',
  area: 'rest',
  proves: 'token',
  calls: {
    get: { method: 'GET', path: '/payments/client/customer-id', answer: ANSWER.shape },
  },
  run: async (calls) => calls.value(await calls.send('get'), 'customer id', customerIdIn),
});

export function customerIdIn(body: unknown, reading: Reading): string | null {
  return ANSWER.read(body, reading)?.customerId ?? null;
}
