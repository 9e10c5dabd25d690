import type { ClientKind } from './client.ts';

/** How many of something each client may have. */
export interface Limit {
  /** Its name in metrics: that of its setting, where it has one. Clients do not see it. */
  readonly label: string;
  readonly max: Readonly<Partial<Record<ClientKind, number>>>;
  /** How many times that refills in a minute; 0: only what is given back may be taken again. */
  readonly refills: number;
  /** How many times that may be owed by those who used more. */
  readonly maxDebt: number;
  /** Whether replicas share it. What costs a process is counted by that process. */
  readonly isShared: boolean;
}

export type Limits<Name extends string> = Readonly<Record<Name, Limit>>;

/** A limit as its owner's table has it: all else that names it follows from the row. */
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

/** A limit of so many in a minute, of all replicas together. */
export function perMinute<Settings, const Label extends string>(
  label: Label,
  what: string,
  maxBy: (settings: Settings) => Limit['max'],
  refills = 1,
): Row<Settings, Label> {
  return { label, what, maxBy, refills, maxDebt: 1, isShared: true };
}

/** A limit of so many of each process; without `refills` at a time, until they are given back. */
export function perProcess<Settings, const Label extends string>(
  label: Label,
  what: string,
  maxBy: (settings: Settings) => Limit['max'],
  refills = 0,
  maxDebt = 1,
): Row<Settings, Label> {
  return { label, what, maxBy, refills, maxDebt, isShared: false };
}
