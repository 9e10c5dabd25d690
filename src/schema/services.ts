import type { createDomain } from '../domain/create-domain.ts';

/** The dependencies of resolvers, created once per process by the composition root. */
export type Services = ReturnType<typeof createDomain>;
