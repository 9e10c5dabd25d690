import type { createDomain } from '../domain/create-domain.ts';

/**
 * The dependencies of resolvers, created once per process by the composition root. It omits orders and the proof ledger:
 * resolvers place orders through the order desk, which requires proof.
 */
export type Services = Omit<
  ReturnType<typeof createDomain>,
  'orders' | 'ledger' | 'resumePolls' | 'caches'
>;
