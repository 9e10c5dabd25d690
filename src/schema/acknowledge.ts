import type { Acknowledgement } from '../gateway/judge.ts';
import { getWithdrawalMethods } from '../gateway/operations/get-withdrawal-methods.ts';
import type { GatewayRefusal } from '../gateway/refusal.ts';
import { answerOf } from './account-read.ts';
import { builder } from './builder.ts';
import { exposedOf } from './exposed.ts';
import { WithdrawalMethodRef } from './payments.ts';

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
