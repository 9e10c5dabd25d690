import type { WithdrawalMethod } from '../gateway/model.ts';
import { customerIdRead, withdrawalMethodsRead } from '../gateway/wire/payments.ts';
import { builder } from './builder.ts';

export const WithdrawalMethodRef = builder
  .objectRef<WithdrawalMethod>('WithdrawalMethod')
  .implement({
    description: 'A saved way to be paid out. Its words are the gateway’s own.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: true, description: 'The method’s number.' }),
      group: t.exposeInt('group', {
        nullable: false,
        description:
          'Which of the gateway’s lists it came in, from 0; the gateway does not say what they mean.',
      }),
      title: t.exposeString('title', { nullable: true, description: 'The title to show.' }),
      icon: t.exposeString('icon', { nullable: true, description: 'Its icon.' }),
      type: t.exposeString('type', { nullable: true, description: 'Its kind.' }),
      crmType: t.exposeString('crmType', {
        nullable: true,
        description: 'Its kind in the customer-management system.',
      }),
      status: t.exposeString('status', { nullable: true, description: 'Where it stands.' }),
      subtitle: t.exposeString('subtitle', {
        nullable: true,
        description: 'The line below the title.',
      }),
    }),
  });

builder.queryFields((t) => ({
  withdrawalMethods: t.field({
    type: [WithdrawalMethodRef],
    nullable: true,
    description: 'The saved ways to be paid out, as one list.',
    resolve: (_root, _args, { scope }) => scope.read(withdrawalMethodsRead),
  }),
  customerId: t.id({
    nullable: true,
    description: 'The customer’s id with the payments side.',
    resolve: (_root, _args, { scope }) => scope.read(customerIdRead),
  }),
}));
