import type { ClientKind } from './request-caller.ts';

export interface Limit {
  /** Its name in metrics: the name of its setting, if it has one. Clients do not see it. */
  readonly label: string;
  readonly max: Readonly<Partial<Record<ClientKind, number>>>;
  /** How many times `max` is refilled per minute; 0 if tokens only return when they are given back. */
  readonly refills: number;
  /** The maximum debt of a client that used more than it had, as a multiple of `max`. */
  readonly maxDebt: number;
  /** Whether replicas share it. A resource of the process is counted per process. */
  readonly isShared: boolean;
}

export type Limits<Name extends string> = Readonly<Record<Name, Limit>>;

/** A limit's row in its owner's table. Everything else that names the limit derives from this row. */
interface LimitRow<Settings = never> extends Omit<Limit, 'max'> {
  /** The first cell of its row in docs/limits.md. */
  readonly what: string;
  readonly maxBy: (settings: Settings) => Limit['max'];
}

/** The limits of a table, for the settings of an installation. */
export function limitsOf<Name extends string, Settings>(
  table: Readonly<Record<Name, LimitRow<Settings>>>,
  settings: Settings,
): Limits<Name> {
  const rows = Object.entries<LimitRow<Settings>>(table);
  const limits = rows.map(([name, row]) => [name, { ...row, max: row.maxBy(settings) }]);
  return Object.fromEntries(limits);
}

type Row<Settings, Label> = LimitRow<Settings> & { readonly label: Label };

/** A limit per minute, counted over all replicas together. */
export function perMinute<Settings, const Label extends string>(
  label: Label,
  what: string,
  maxBy: (settings: Settings) => Limit['max'],
  refills = 1,
): Row<Settings, Label> {
  return { label, what, maxBy, refills, maxDebt: 1, isShared: true };
}

/** A limit per process. Without `refills` it bounds concurrent use: tokens return when they are given back. */
export function perProcess<Settings, const Label extends string>(
  label: Label,
  what: string,
  maxBy: (settings: Settings) => Limit['max'],
  refills = 0,
  maxDebt = 1,
): Row<Settings, Label> {
  return { label, what, maxBy, refills, maxDebt, isShared: false };
}
