import type { FieldPolicy, TypePolicies } from '@apollo/client/cache';
import { generatedTypePolicies } from '../generated/type-policies.ts';

/** A list that could not be loaded is null; the live one, whose changes go on, stays. */
const KEPT_LIST: FieldPolicy<readonly unknown[] | null> = {
  merge: (existing, incoming) => incoming ?? existing ?? null,
};

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
      positions: KEPT_LIST,
      orders: { ...KEPT_LIST, keyArgs: false },
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
 * A page that begins at the end of the list is appended to it. One that begins elsewhere was asked for before the list
 * became another, and is left out. The length of a page is part of the key, so that a short list does not cut a long one.
 */
function instrumentPages(): FieldPolicy<Page> {
  return {
    keyArgs: ['filter', 'orderBy', 'first', 'last'],
    merge(existing, incoming, { args, mergeObjects }) {
      if (existing === undefined) return incoming;
      const end = existing.pageInfo?.endCursor;
      if (args?.after == null || end === undefined) return mergeObjects(existing, incoming);
      if (args.after !== end) return existing;
      const appended = (list: 'nodes' | 'edges') =>
        incoming[list] && { [list]: [...(existing[list] ?? []), ...incoming[list]] };
      return mergeObjects(existing, { ...incoming, ...appended('nodes'), ...appended('edges') });
    },
  };
}
