import type { TypedText } from '../operation.ts';
import type { ListChanges, LiveEvent, LiveVariables } from './live-source.ts';

/** The fields of a live list that are followed, all without a selection of their own. */
export interface ListFields<Row> {
  /** The fields that a row is named by are among them. */
  readonly fields: readonly (keyof Row & string)[];
  /** The fields of the list's `ticks`, where it has any: what moves, and what a row is named by. */
  readonly ticks?: readonly (keyof Row & string)[];
}

/** The data of a subscription to a live list, under the name of its field. */
export type ListData<Row> = Readonly<Record<string, LiveEvent & ListChanges<Row>>>;

/** The text that `live` sends for a list by its name, for a manifest of trusted documents. */
export function listDocument<Row>(
  field: string,
  { fields, ticks = [] }: ListFields<Row>,
): TypedText<ListData<Row>, LiveVariables> {
  const unfit = [field, ...fields, ...ticks].find((name) => !/^\w+$/.test(name));
  if (unfit !== undefined) throw new TypeError(`A field has no name such as ${unfit}.`);
  return listText(field, fields.join(' '), ticks.join(' '));
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
