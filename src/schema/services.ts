import type { createDomain } from '../domain/create-domain.ts';

/**
 * The dependencies of resolvers, created once per process by the composition root. Orders and the proof ledger are not
 * among them: who places an order goes through the order desk, which asks for proof.
 */
export type Services = Pick<
  ReturnType<typeof createDomain>,
  | 'logicalClock'
  | 'identify'
  | 'writeLimits'
  | 'onSignIn'
  | 'client'
  | 'gateway'
  | 'sessions'
  | 'catalogs'
  | 'openPositions'
  | 'joinedReads'
  | 'prover'
  | 'feeds'
  | 'catchUp'
  | 'orderDesk'
>;
