import { METHOD, methodsIn } from '../../src/gateway/operations/get-withdrawal-methods.ts';
import { OPERATIONS } from '../../src/gateway/operations.ts';
import { plainRead } from './operation-case.ts';

export const methodValues = {
  id: 7,
  title: 'Bank',
  icon: 'bank',
  type: 'bank-transfer',
  crmType: 'bank',
  status: 'APPROVED',
  subtitle: '**** 1',
};
const row = METHOD.toWire(methodValues);

export const getWithdrawalMethods = plainRead(OPERATIONS.getWithdrawalMethods, methodsIn, {
  field: 'withdrawalMethods',
  document: '{ withdrawalMethods { id group title icon type crmType status subtitle } }',
  shows: [{ group: 0, crmType: 'bank', status: 'APPROVED' }],
  answer: [[row]],
  odd: [
    // These bodies cannot be read.
    ...[[row], {}, null, [[null]], ['x'], '[[]]'].map((body) => [body, null] as const),
    [[], []],
    [[[]], []],
    [[[row], [], [row]], [0, 2].map((group) => ({ ...methodValues, id: '7', group }))],
  ],
});
