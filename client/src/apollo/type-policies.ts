import type { TypePolicies } from '@apollo/client/cache';
import { generatedTypePolicies } from '../generated/type-policies.ts';

/**
 * The schema's type policies for Apollo's cache. Positions, orders and instruments are kept by type and id, as Apollo does
 * by default. The account's session and the catalog are one object each, with or without a selected id. So a cache belongs
 * to one account: call `clearStore()` when another one signs in.
 */
export const typePolicies: TypePolicies = {
  ...generatedTypePolicies,
  Catalog: { ...generatedTypePolicies.Catalog, keyFields: [] },
  Session: { ...generatedTypePolicies.Session, keyFields: [] },
  Query: {
    fields: {
      ...generatedTypePolicies.Query?.fields,
      // `maxAge` affects only how they are fetched.
      session: { keyArgs: false },
      orders: { keyArgs: false, merge: false },
    },
  },
};
