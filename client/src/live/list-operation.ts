import type { Operation, TypedText } from '../operation.ts';
import type { ListChanges, LiveEvent, LiveVariables } from './live-source.ts';

/** The fields of a live list that are followed, all without a selection of their own. */
export interface ListFields<Row> {
  /** The fields that a `key` is made of are among them; without a `key` the row's `id` is added. */
  readonly fields: readonly (keyof Row & string)[];
  /** The fields of the list's `ticks`, where it has any: what moves, and what a `key` is made of. */
  readonly ticks?: readonly (keyof Row & string)[] | undefined;
}

/** The key by which the rows of a live list are told apart. */
export interface ListOptions<Row> {
  /** Names a row as the list's `key` does at the server; its `id` without it. */
  readonly key?: ((row: Row) => string) | undefined;
}

/** The data of a subscription to a live list, under the name of its field. */
export type ListData<Row> = Readonly<Record<string, LiveEvent & ListChanges<Row>>>;

/** The text that `live` sends for a list by its name and options, for a manifest of trusted documents. */
export function listDocument<Row>(
  field: string,
  { fields, ticks = [], key }: ListFields<Row> & ListOptions<Row>,
): TypedText<ListData<Row>, LiveVariables> {
  const withKey = (names: readonly string[]) =>
    (key ? names : [...new Set([...names, 'id'])]).join(' ');
  const unfit = [field, ...fields, ...ticks].find((name) => !/^\w+$/.test(name));
  if (unfit !== undefined) throw new TypeError(`A field has no name such as ${unfit}.`);
  return listText(field, withKey(fields), ticks.length > 0 ? withKey(ticks) : '');
}

/** Leaves out `ticks`, which an older server does not know; undefined where the text has none, or is no text. */
export function olderForm<Data>(
  operation: Operation<Data, LiveVariables>,
): Operation<Data, LiveVariables> | undefined {
  if (typeof operation !== 'string') return undefined;
  const older = operation.replace(/\bticks\s*\{[^{}]*\}/, '');
  return older === operation ? undefined : older;
}

export function listText(field: string, rows: string, ticks: string, totals = ''): string {
  const name = field.replace(/^./, (first) => first.toUpperCase());
  return `subscription ${name}($after: String, $intervalMs: Int, $heartbeatSeconds: Int) {
  ${field}(after: $after, intervalMs: $intervalMs, heartbeatSeconds: $heartbeatSeconds) {
    cursor snapshot
    upserted { ${rows} }
    ${ticks && `ticks { ${ticks} }`}
    closed status asOf ${totals}
  }
}`;
}
