import { getCustomerId } from '../gateway/operations/get-customer-id.ts';
import {
  getWithdrawalMethods,
  type WithdrawalMethod,
} from '../gateway/operations/get-withdrawal-methods.ts';
import { answerOf } from './account-read.ts';
import { builder } from './builder.ts';
import { exposed } from './exposed.ts';

export const WithdrawalMethodRef = builder
  .objectRef<WithdrawalMethod>('WithdrawalMethod')
  .implement({
    description: 'A saved withdrawal method. Its texts are the gateway’s own.',
    fields: (t) =>
      exposed(t, {
        ID: { id: 'The method’s number.' },
        'Int!': {
          group:
            'The index of the gateway’s list that it belongs to, from 0. The gateway does not document these lists.',
        },
        String: {
          title: 'The display title.',
          icon: 'Its icon.',
          type: 'Its kind.',
          crmType: 'Its kind in the customer-management system.',
          status: 'Its status.',
          subtitle: 'The line below the title.',
        },
      }),
  });

builder.queryFields((t) => ({
  withdrawalMethods: t.field({
    ...answerOf(getWithdrawalMethods),
    type: [WithdrawalMethodRef],
    description: 'The saved withdrawal methods, as one list.',
  }),
  customerId: t.id({
    ...answerOf(getCustomerId),
    description: 'The customer’s id in the payment system.',
  }),
}));
