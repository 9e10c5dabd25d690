import type { FieldPolicy, TypePolicies } from '@apollo/client/cache';
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
      // `maxAge` says how it is fetched, not what it is.
      session: { keyArgs: false },
      orders: { keyArgs: false, merge: false },
      instrument: rowById('Instrument'),
      order: rowById('Order'),
      position: rowById('Position'),
      instruments: instrumentPages(),
    },
  },
};

/** A row that a list has brought is found by its id, without a request. */
function rowById(__typename: string): FieldPolicy {
  return {
    read: (existing, { args, toReference }) =>
      existing === undefined ? toReference({ __typename, id: args?.id }) : existing,
  };
}

interface Page {
  readonly nodes?: readonly unknown[];
  readonly edges?: readonly unknown[];
  readonly pageInfo?: { readonly endCursor?: string | null };
}

/**
 * A page that begins at the end of the list is appended to it; any other one replaces it. The length of a page is part of
 * the key, so that a short list does not cut a long one.
 */
function instrumentPages(): FieldPolicy<Page> {
  return {
    keyArgs: ['filter', 'orderBy', 'first', 'last'],
    merge(existing, incoming, { args, mergeObjects }) {
      if (existing === undefined) return incoming;
      if (args?.after == null || args.after !== existing.pageInfo?.endCursor)
        return mergeObjects(existing, incoming);
      const appended = (list: 'nodes' | 'edges') =>
        incoming[list] && { [list]: [...(existing[list] ?? []), ...incoming[list]] };
      return mergeObjects(existing, { ...incoming, ...appended('nodes'), ...appended('edges') });
    },
  };
}
