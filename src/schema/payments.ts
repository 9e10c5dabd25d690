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
    description: 'A saved way to be paid out. Its words are the gateway’s own.',
    fields: (t) =>
      exposed(t, null, {
        ID: { id: 'The method’s number.' },
        'Int!': {
          group:
            'Which of the gateway’s lists it came in, from 0; the gateway does not say what they mean.',
        },
        String: {
          title: 'The title to show.',
          icon: 'Its icon.',
          type: 'Its kind.',
          crmType: 'Its kind in the customer-management system.',
          status: 'Where it stands.',
          subtitle: 'The line below the title.',
        },
      }),
  });

builder.queryFields((t) => ({
  withdrawalMethods: t.field({
    ...answerOf(getWithdrawalMethods),
    type: [WithdrawalMethodRef],
    description: 'The saved ways to be paid out, as one list.',
  }),
  customerId: t.id({
    ...answerOf(getCustomerId),
    description: 'The customer’s id with the payments side.',
  }),
}));
