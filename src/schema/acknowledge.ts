import type { GatewayRefusal } from '../gateway/gateway-error.ts';
import type { Acknowledgement } from '../gateway/judge.ts';
import { getCustomerId } from '../gateway/operations/get-customer-id.ts';
import {
  getWithdrawalMethods,
  type WithdrawalMethod,
} from '../gateway/operations/get-withdrawal-methods.ts';
import { builder } from './builder.ts';
import { exposed, exposedOf } from './exposed.ts';
import { answerOf } from './field-options.ts';

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

/** The interface has no resolvers, because each type keeps the gateway's messages in a different property. */
export const RefusalRef = builder.interfaceRef<object>('Refusal').implement({
  description: 'The common fields of refusals, in the gateway’s own words.',
  fields: (t) => ({
    error: t.string({ nullable: true, description: 'The gateway’s name for the reason.' }),
    message: t.string({ nullable: true, description: 'The gateway’s message.' }),
  }),
});

const AcknowledgedRef = builder.objectRef<{ outcome: 'acknowledged' }>('Acknowledged').implement({
  description: 'The gateway has carried out the request.',
  fields: (t) => ({
    success: t.boolean({
      nullable: false,
      description: 'Always true: a failure is never acknowledged.',
      resolve: () => true,
    }),
    withdrawalMethods: t.field({
      ...answerOf(getWithdrawalMethods),
      type: [WithdrawalMethodRef],
      description: 'The saved withdrawal methods, read after the write in the same round-trip.',
    }),
  }),
});

const RejectedRef = builder
  .objectRef<{ outcome: 'rejected'; refusal: GatewayRefusal }>('Rejected')
  .implement({
    description: 'The gateway refused the request, in its own words.',
    interfaces: [RefusalRef],
    fields: (t) =>
      exposedOf(t, ({ refusal }) => refusal, {
        String: {
          error: 'The gateway’s name for the reason.',
          message: 'The gateway’s message.',
        },
        JSON: { details: 'Further details from the gateway.' },
      }),
  });

export const AcknowledgeResult = builder.unionType('AcknowledgeResult', {
  description:
    'Done or refused. If the outcome is unknown, the field has the error `OUTCOME_UNKNOWN` instead.',
  types: [AcknowledgedRef, RejectedRef],
  resolveType: ({ outcome }: Acknowledgement) =>
    outcome === 'acknowledged' ? 'Acknowledged' : 'Rejected',
});

/** Options of a field that performs a small write. */
export function acknowledged(description: string) {
  return { type: AcknowledgeResult, nullable: true, description } as const;
}

export function needed<Type>(type: Type, description: string) {
  return { type, required: true, description } as const;
}
