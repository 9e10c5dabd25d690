import { builder } from './builder.ts';

/**
 * An interface without fields of a source: each type that refuses keeps the gateway's messages in
 * its own place.
 */
export const RefusalRef = builder.interfaceRef<object>('Refusal').implement({
  description: 'What every refusal has: the gateway’s own words.',
  fields: (t) => ({
    error: t.string({ nullable: true, description: 'The gateway’s name for the reason.' }),
    message: t.string({ nullable: true, description: 'The gateway’s sentence about it.' }),
  }),
});
