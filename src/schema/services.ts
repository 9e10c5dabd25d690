import type { createDomain } from '../domain/create-domain.ts';
import type { BackendClient } from '../gateway/backend-client.ts';

/** The dependencies of resolvers, created once per process by the composition root. */
export type Services = ReturnType<typeof createDomain> & {
  /** The services beside the gateway that extensions have declared, by their names. */
  readonly backends: ReadonlyMap<string, BackendClient>;
};
