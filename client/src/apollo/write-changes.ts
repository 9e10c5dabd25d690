import { type ApolloCache, gql, type TypedDocumentNode } from '@apollo/client';
import type { Modifier } from '@apollo/client/cache';

/** The fields of each list that an event must have selected; `ticks` and `closed` as the list has them. */
export interface WrittenRows {
  readonly upserted: readonly object[];
  readonly ticks?: readonly object[] | undefined;
  readonly closed: readonly string[];
}

/** The fields that an event of one list, such as `positionChanges`, must have selected. */
export interface WrittenChanges extends WrittenRows {
  readonly snapshot: boolean;
}

/** The fields that an event of `accountChanges` must have selected; orders and session may be left out. */
export interface WrittenAccountChanges {
  readonly snapshot: boolean;
  readonly positions: WrittenRows;
  readonly orders?: WrittenRows | null | undefined;
  readonly session?: object | null | undefined;
}

/** A list of the cache. */
export interface WrittenList {
  /** The field of `Query` that has it, without arguments. */
  readonly field: string;
  /** The type of its rows. */
  readonly type: string;
  /** The field that `closed` names its rows by; `id` without it. */
  readonly key?: string | undefined;
}

/** Caches whose last snapshot came before the gateway said any orders: the first that come are the whole list. */
const withoutOrders = new WeakSet<ApolloCache>();

const POSITIONS: WrittenList = { field: 'positions', type: 'Position' };
const ORDERS: WrittenList = { field: 'orders', type: 'Order' };

/**
 * Applies an event to the list of the cache, and evicts the rows that are closed. Apollo itself has written the
 * rows of the event, by their ids; what a tick says is written here.
 */
export function writeListChanges(
  cache: ApolloCache,
  list: WrittenList,
  changes: WrittenChanges,
): void {
  cache.batch({ update: () => writeRows(cache, list, changes, changes.snapshot) });
}

/** Applies an event to `Query.positions` of the cache. */
export function writePositionChanges(cache: ApolloCache, changes: WrittenChanges): void {
  writeListChanges(cache, POSITIONS, changes);
}

/**
 * Applies an event to `Query.positions`, `Query.orders` and `Query.session` of the cache. The rows and the figures Apollo
 * itself has written; orders that the gateway has not said yet stay as they are.
 */
export function writeAccountChanges(
  cache: ApolloCache,
  { snapshot, positions, orders, session }: WrittenAccountChanges,
): void {
  cache.batch({
    update() {
      writeRows(cache, POSITIONS, positions, snapshot);
      if (orders === null && snapshot) withoutOrders.add(cache);
      if (orders) writeRows(cache, ORDERS, orders, withoutOrders.delete(cache) || snapshot);
      // `gql` keeps one document for each text.
      const query = gql('query SessionLink { session { __typename } }');
      if (session) cache.writeQuery({ query, data: { session: { __typename: 'Session' } } });
    },
  });
}

type Values = Readonly<Record<string, unknown>>;

function writeRows(
  cache: ApolloCache,
  { field, type: __typename, key = 'id' }: WrittenList,
  { upserted, ticks = [], closed }: WrittenRows,
  snapshot: boolean,
): void {
  const query: TypedDocumentNode<{ rows: readonly Values[] | null }> = gql(
    `query ${__typename}Keys { rows: ${field} { ${key} } }`,
  );
  const keyOf = (row: object) => {
    const name = (row as Values)[key];
    if (name == null) throw new TypeError(`Select ${key} in each event of ${field}, in ticks too.`);
    return String(name);
  };
  const idOf = (name: string) => cache.identify({ __typename, [key]: name });
  for (const tick of ticks) {
    const id = idOf(keyOf(tick));
    const { __typename: _, ...moved } = tick as Values;
    const fields = Object.entries(moved).map(([name, value]) => [name, () => value]);
    if (id !== undefined) cache.modify({ id, fields: Object.fromEntries(fields) });
  }
  const known = cache.readQuery({ query })?.rows;
  // Changes alone are no list.
  if (!known && !snapshot) return;
  let before = (known ?? []).map(keyOf);
  const stored: Modifier<unknown> = (all, { canRead, readField, storeFieldName }) => {
    if (Array.isArray(all) && storeFieldName === field)
      before = all.filter(canRead).map((row) => String(readField(key, row)));
    return all;
  };
  // A `read` of the app's own may hide rows that are in the list all the same.
  cache.modify({ fields: { [field]: stored } });
  const left = new Set([...(snapshot ? [] : before), ...upserted.map(keyOf)]);
  for (const name of closed) left.delete(name);
  cache.writeQuery({
    query,
    // The list of before is in this one: nothing is lost of which Apollo would warn.
    overwrite: true,
    data: { rows: [...left].map((name) => ({ __typename, [key]: name })) },
  });
  for (const name of before) {
    const id = left.has(name) ? undefined : idOf(name);
    if (id !== undefined) cache.evict({ id });
  }
}
