import type { createDomain } from '../domain/create-domain.ts';

/** The dependencies of resolvers, created once per process by the composition root. */
export type Services = Pick<
  ReturnType<typeof createDomain>,
  | 'logicalClock'
  | 'identify'
  | 'clientOf'
  | 'known'
  | 'writeLimits'
  | 'onSignIn'
  | 'client'
  | 'gateway'
  | 'sessions'
  | 'catalogs'
  | 'openPositions'
  | 'listPairs'
  | 'prover'
  | 'hub'
  | 'catchUp'
  | 'holdings'
  | 'orderDesk'
>;
