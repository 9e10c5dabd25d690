import type { TypePolicies } from '@apollo/client/cache';
import { generatedTypePolicies } from '../generated/type-policies.ts';

/**
 * The schema's type policies for Apollo's cache. Positions, orders and instruments are kept by type and id, as Apollo does
 * by itself; the account's session and the catalog are one object each, whether an id is selected or not. A cache therefore
 * belongs to one account: `clearStore()` when another one signs in.
 */
export const typePolicies: TypePolicies = {
  ...generatedTypePolicies,
  Catalog: { ...generatedTypePolicies.Catalog, keyFields: [] },
  Session: { ...generatedTypePolicies.Session, keyFields: [] },
  Query: {
    fields: {
      ...generatedTypePolicies.Query?.fields,
      // `maxAge` says how they are fetched, not what they are.
      session: { keyArgs: false },
      orders: { keyArgs: false, merge: false },
    },
  },
};
