import { hash } from 'node:crypto';
import type { ValueOf, WireOf } from '../fields.ts';
import * as f from '../fields.ts';

/** The tables of positions (ops 10 and 12) and pending orders (op 10). */

const HOLDING = {
  id: f.vital(f.filled),
  symbol: f.vital(f.filled),
  side: f.from('isBuy', f.either('BUY', 'SELL')),
  name: f.from('friendlyName', f.text),
  logo: f.text,
  delayed: f.flag,
  sharia: f.flag,
  digits: f.integer,
  units: f.number,
  priceOpen: f.number,
  priceCurrent: f.number,
  createdAt: f.from('timeCreate', f.time),
  updatedAt: f.from('timeUpdate', f.time),
  leverage: f.number,
  rateMargin: f.number,
  stopLoss: f.from('sl', f.number),
  takeProfit: f.from('tp', f.number),
  comment: f.text,
  invested: f.number,
} as const;

export const POSITION = f.table('Position', {
  ...HOLDING,
  rateProfit: f.number,
  storage: f.number,
  profit: f.number,
});

/** The gateway's interface names only limit orders; any other order is taken for a stop order. */
export const ORDER = f.table('Order', {
  ...HOLDING,
  kind: f.from('isLimit', f.either('LIMIT', 'STOP')),
  state: f.number,
  useMargin: f.flag,
});

export type Position = ValueOf<typeof POSITION.fields>;
export type Order = ValueOf<typeof ORDER.fields>;
export type Side = NonNullable<Position['side']>;
export type WirePosition = WireOf<typeof POSITION.fields>;
export type WireOrder = WireOf<typeof ORDER.fields>;

export const POSITIONS = f.wholeList(POSITION);
export const ORDERS = f.wholeList(ORDER);

/** The fields that a moving market changes. */
const TICK: readonly (keyof Position)[] = ['priceCurrent', 'profit', 'updatedAt', 'rateProfit'];
const OTHERS = (Object.keys(POSITION.fields) as (keyof Position)[]).filter(
  (name) => !TICK.includes(name),
);

/** Whether two positions differ at most in the fields of a tick. */
export const sameBesidesPrices = f.equality<Position>(OTHERS);
/** Whether two positions are equal in every field. Most differ in a field of a tick, so these are compared first. */
export const samePosition = f.equality<Position>([...TICK, ...OTHERS]);

/** The positions of a snapshot: a digest of their ids, and their rows. */
interface SnapshotPositions {
  readonly ids: IdsDigest;
  /** Null in a cached snapshot. */
  readonly rows: readonly Position[] | null;
}

export function inSnapshot(rows: readonly Position[]): SnapshotPositions {
  return { ids: digestOfIds(rows), rows };
}

/** A digest of a list's ids in any order. The ids themselves would take a tenth of an account's memory. */
export type IdsDigest = number;

export function digestOfIds(rows: readonly { readonly id: string }[]): IdsDigest {
  const ids = rows.map(({ id }) => id).sort();
  // A double represents 13 hexadecimal digits exactly.
  return Number.parseInt(hash('sha1', JSON.stringify(ids)).slice(0, 13), 16);
}
