import type { TypePolicies } from '@apollo/client/cache';
import { generatedTypePolicies } from '../generated/type-policies.ts';

/**
 * The schema's type policies for Apollo's cache. Positions, orders and instruments are kept by type and id, as Apollo does
 * by default. The cache holds only one session and only one catalog, whether or not a query selects their ids. So a cache
 * can serve only one account: call `clearStore()` when another account signs in.
 */
export const typePolicies: TypePolicies = {
  ...generatedTypePolicies,
  Catalog: { ...generatedTypePolicies.Catalog, keyFields: [] },
  Session: { ...generatedTypePolicies.Session, keyFields: [] },
  Query: {
    fields: {
      ...generatedTypePolicies.Query?.fields,
      // `maxAge` affects only how the session and the orders are fetched.
      session: { keyArgs: false },
      orders: { keyArgs: false, merge: false },
    },
  },
};
