import type { Acknowledgement } from '../gateway/judge.ts';
import { getWithdrawalMethods } from '../gateway/operations/get-withdrawal-methods.ts';
import type { GatewayRefusal } from '../gateway/refusal.ts';
import { answerOf } from './account-read.ts';
import { builder } from './builder.ts';
import { exposedOf } from './exposed.ts';
import { WithdrawalMethodRef } from './payments.ts';

/** No default resolvers: each type keeps the gateway's messages in another place. */
export const RefusalRef = builder.interfaceRef<object>('Refusal').implement({
  description: 'What every refusal has: the gateway’s own words.',
  fields: (t) => ({
    error: t.string({ nullable: true, description: 'The gateway’s name for the reason.' }),
    message: t.string({ nullable: true, description: 'The gateway’s sentence about it.' }),
  }),
});

const AcknowledgedRef = builder.objectRef<{ outcome: 'acknowledged' }>('Acknowledged').implement({
  description: 'The gateway has done it.',
  fields: (t) => ({
    success: t.boolean({
      nullable: false,
      description: 'Always true: what was not done is not acknowledged.',
      resolve: () => true,
    }),
    withdrawalMethods: t.field({
      ...answerOf(getWithdrawalMethods),
      type: [WithdrawalMethodRef],
      description: 'The saved ways to be paid out, read after it in the same round-trip.',
    }),
  }),
});

const RejectedRef = builder
  .objectRef<{ outcome: 'rejected'; refusal: GatewayRefusal }>('Rejected')
  .implement({
    description: 'The gateway refused it, in its own words.',
    interfaces: [RefusalRef],
    fields: (t) =>
      exposedOf(t, null, ({ refusal }) => refusal, {
        String: {
          error: 'The gateway’s name for the reason.',
          message: 'The gateway’s sentence about it.',
        },
        JSON: { details: 'What else the gateway said.' },
      }),
  });

export const AcknowledgeResult = builder.unionType('AcknowledgeResult', {
  description:
    'Done or refused. Where the outcome is unknown, the field has the error `OUTCOME_UNKNOWN` instead.',
  types: [AcknowledgedRef, RejectedRef],
  resolveType: ({ outcome }: Acknowledgement) =>
    outcome === 'acknowledged' ? 'Acknowledged' : 'Rejected',
});

/** Options of a field that is a small write. */
export function acknowledged(description: string) {
  return { type: AcknowledgeResult, nullable: true, description } as const;
}

/** Options of the input that a mutation cannot do without. */
export function needed<Type>(type: Type, description: string) {
  return { type, required: true, description } as const;
}
