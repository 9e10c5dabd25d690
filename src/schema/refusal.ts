import { builder } from './builder.ts';

/** An interface without a source: each type that refuses keeps the gateway's words in its own place. */
export const RefusalRef = builder.interfaceRef<object>('Refusal').implement({
  description: 'What every refusal has: the gateway’s own words.',
  fields: (t) => ({
    error: t.string({ nullable: true, description: 'The gateway’s name for the reason.' }),
    message: t.string({ nullable: true, description: 'The gateway’s sentence about it.' }),
  }),
});
