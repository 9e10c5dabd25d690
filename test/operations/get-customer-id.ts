import { CUSTOMER_ID } from '../../src/gateway/operations/get-customer-id.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import type { Reading } from '../../src/gateway/scalars.ts';
import { plainRead } from './operation-case.ts';

const valueIn = (body: unknown, reading: Reading) =>
  CUSTOMER_ID.read(body, reading)?.customerId ?? null;

export const getCustomerId = plainRead(OPERATIONS.getCustomerId, valueIn, {
  field: 'customerId',
  document: '{ customerId }',
  shows: 'cus_700001',
  answer: CUSTOMER_ID.toWire({ customerId: 'c-1' }),
  odd: [
    [CUSTOMER_ID.toWire({ customerId: 'cus_1' }), 'cus_1'],
    [{ [CUSTOMER_ID.names.customerId]: 7 }, null],
    [{}, null],
    [null, null],
    ['cus_1', null],
  ],
});
