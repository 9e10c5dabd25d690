import { type PendingOrder, type Position, TICK_FIELDS } from '../generated/rows.ts';
import type { AccountFigures } from './live-source.ts';

/** The names of the fields that are followed live; each row has its `id` as well. */
export interface LiveNames {
  readonly position: keyof Position;
  readonly order: keyof PendingOrder;
  readonly session: keyof AccountFigures;
}

/** The selected fields of live data. A list that is left out selects all its fields. */
export interface LiveFields<Names extends LiveNames = LiveNames> {
  /** The fields of positions, in `positions` and `account`. */
  readonly positionFields?: readonly Names['position'][] | undefined;
  /** The fields of the account's pending orders; an empty list leaves the orders out. */
  readonly orderFields?: readonly Names['order'][] | undefined;
  /** The account's figures; an empty list leaves them out. */
  readonly sessionFields?: readonly Names['session'][] | undefined;
}

/** The fields of rows, which are merged by their ids. */
export function rowFields(all: string, chosen: readonly string[] | undefined): string {
  return chosenFields(all, chosen && ['id', ...chosen]);
}

/** The moving fields of positions among the selected ones. */
export function tickFields(chosen: readonly string[] | undefined): string {
  const isMoving = (name: string) => name === 'id' || (chosen?.includes(name) ?? true);
  return TICK_FIELDS.split(' ').filter(isMoving).join(' ');
}

/** The selected fields, in the order of `all`. Throws for any other name, because the names become part of a document. */
export function chosenFields(all: string, chosen: readonly string[] | undefined): string {
  if (chosen === undefined) return all;
  const names = all.split(' ');
  const unknown = chosen.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new TypeError(`There is no field ${unknown}, but ${all}.`);
  return names.filter((name) => chosen.includes(name)).join(' ');
}
