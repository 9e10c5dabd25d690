import type { Core } from '../core.ts';
import type { Operation } from '../operation.ts';
import { requestedDocument } from '../request/document.ts';
import { type FoldedList, foldList } from './fold-list.ts';
import { createFollowed, type Followed } from './followed.ts';
import {
  type ListData,
  type ListFields,
  type ListOptions,
  listDocument,
  olderForm,
} from './list-operation.ts';
import type {
  ListChanges,
  LiveEvent,
  LiveSource,
  LiveState,
  LiveVariables,
} from './live-source.ts';
import { idOf, type KeyOf } from './rows.ts';

/** A live list as far as it is known; the same object until something changes. */
export interface ListState<Row> extends LiveState {
  /** The rows in the server's order, null before the first list; a row that has not changed is the same object as before. */
  readonly rows: readonly Row[] | null;
}

/** Options of a list that is followed by an operation of the app's own. */
export interface OwnListOptions<Row> extends ListOptions<Row> {
  /** Its variables beside `after`, `intervalMs` and `heartbeatSeconds`, which are the client's. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** The type of the rows in the data of a subscription. */
export type RowOf<Data> = RowIn<Data[keyof Data]>;
type RowIn<Event> = Event extends { readonly upserted: readonly (infer Row)[] } ? Row : never;

/**
 * Follows a live list of the server, such as an extension's. All that ask for the same list share one subscription for the
 * client's life, with the `key` of the first. The last eight lists that nobody follows keep their rows.
 */
export interface Lists {
  /** Follows the list by the name of its field in `Subscription`. */
  <Row extends object>(
    field: string,
    options: ListFields<Row> & ListOptions<Row>,
  ): Followed<ListState<Row>>;
  /** Follows the list by an operation that selects `cursor`, `snapshot`, `status`, `asOf`, `upserted`, `closed`, and `ticks` where the list has them. */
  <Data>(
    operation: Operation<Data, never>,
    options?: OwnListOptions<RowOf<Data>>,
  ): Followed<ListState<RowOf<Data>>>;
}

export const NO_ROWS: ListState<never> = Object.freeze({
  rows: null,
  status: 'CONNECTING',
  asOf: null,
  error: null,
});

interface AnyOptions extends Partial<ListFields<Record<string, unknown>>> {
  readonly key?: ((row: never) => string) | undefined;
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
}

/** The lists that were left last keep their rows, to be shown at once and gone on from; an app may have one for each symbol. */
const MAX_LEFT = 8;

type NamedOptions = ListFields<object> & ListOptions<object>;

export function createLists(core: Core): Lists {
  const lists = new Map<string, Followed<ListState<never>>>();
  /** The lists that nobody follows, by the functions that forget their rows, the one that was left first ahead. */
  const left = new Set<() => void>();

  function settled(isLeft: boolean, forget: () => void): void {
    left.delete(forget);
    if (isLeft) left.add(forget);
    for (const first of left) {
      if (left.size > MAX_LEFT && left.delete(first)) first();
    }
  }

  return (list: Operation<unknown, never>, options: AnyOptions = {}) => {
    const { fields, variables = {}, key = idOf } = options;
    const operation = (
      fields ? listDocument(String(list), options as NamedOptions) : list
    ) as Operation<ListData<object>, LiveVariables>;
    const name = JSON.stringify([requestedDocument(operation), variables]);
    const known = lists.get(name);
    if (known !== undefined) return known;
    const source = {
      ...listSource(operation, textOf(key as KeyOf<object>)),
      variables,
      nothing: NO_ROWS,
      // The type of the rows follows from what the caller says of them.
      shown: ({ rows }: FoldedList<object>) => ({ rows: rows as never }),
    };
    const followed = createFollowed(core, source, settled);
    lists.set(name, followed);
    return followed;
  };
}

/** Throws for a row without a key: rows of one key replace each other, and no tick finds its row. */
function textOf(keyOf: KeyOf<object>): KeyOf<object> {
  return (row) => {
    const key: unknown = keyOf(row);
    if (typeof key === 'string' || typeof key === 'number') return String(key);
    throw new TypeError('a row has no key. Select what it is made of, in ticks too.');
  };
}

type ListEvent<Row> = LiveEvent & ListChanges<Row>;
type ListSource<Data, Row> = LiveSource<Data, ListEvent<Row>, FoldedList<Row>, LiveState>;

/** The parts of a source that all lists have. */
export function listSource<Data extends object, Row extends object>(
  operation: Operation<Data, LiveVariables>,
  keyOf: KeyOf<Row>,
): Pick<ListSource<Data, Row>, 'operation' | 'older' | 'eventOf' | 'fold'> {
  return {
    operation,
    older: olderForm(operation),
    // A subscription has one field, whatever its alias.
    eventOf: (data) => Object.values(data)[0] as ListEvent<Row>,
    fold: (state, event, options) => foldList(state, event, keyOf, options),
  };
}
