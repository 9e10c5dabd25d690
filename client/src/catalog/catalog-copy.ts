import { CatalogSearch } from './catalog-search.ts';
import type { KeyFields } from './instrument.ts';

/** The account that a copy belongs to; its group decides which instruments there are, and on what terms. */
export interface Owner {
  readonly login: string;
  readonly group: string;
}

/** The difference between one copy and the next. */
export interface CopyChanges<Row> {
  readonly version: string;
  readonly reset: boolean;
  readonly removed: readonly string[];
  readonly upserted: readonly Row[];
}

/** The instruments of one version; it never changes. */
export class CatalogCopy<Row extends KeyFields> {
  readonly version: string;
  /** The instruments by symbol, as the server sorts them. */
  readonly all: readonly Row[];
  readonly byId: ReadonlyMap<string, Row>;
  readonly search: CatalogSearch<Row>;
  /** The ids of those that are not here as this version has them: they are to be fetched. */
  readonly stale: readonly string[];
  /** False where some of these are not here at all. */
  readonly isWhole: boolean;

  /** Takes over the list, which is sorted. */
  constructor(
    version: string,
    all: readonly Row[],
    byId: ReadonlyMap<string, Row>,
    stale: readonly string[] = [],
    isWhole = true,
  ) {
    this.version = version;
    this.all = Object.freeze(all);
    this.byId = byId;
    this.search = new CatalogSearch(all);
    this.stale = stale;
    this.isWhole = isWhole;
  }

  /** The copy after these changes, in which those that are `stale` are still to come. */
  after(
    { version, reset, removed, upserted }: CopyChanges<Row>,
    stale: readonly string[] = [],
  ): CatalogCopy<Row> {
    const isKnown = version === this.version && this.stale.length === stale.length;
    if (!reset && isKnown && upserted.length === 0) return this;
    const byId = new Map(reset ? [] : this.byId);
    for (const id of removed) byId.delete(id);
    for (const row of upserted) byId.set(row.id, row);
    // To sort all of them would stop a slow phone; most stay where they are.
    const all: Row[] = [];
    for (const { id, symbol } of this.all) {
      const row = byId.get(id);
      if (row?.symbol === symbol) all.push(row);
    }
    const moved = upserted.filter(({ id, symbol }) => this.byId.get(id)?.symbol !== symbol);
    insertSorted(all, moved.sort(compareInstruments));
    const isWhole = stale.length === 0 || (!reset && this.isWhole);
    return new CatalogCopy(version, all, byId, stale, isWhole);
  }
}

export const NONE: CatalogCopy<KeyFields> = new CatalogCopy('', [], new Map());

/** Puts sorted instruments into a list that is sorted, and looks at no more of it than comes behind the first of them. */
export function insertSorted<Row extends KeyFields>(list: Row[], rows: readonly Row[]): void {
  const taken: Row[] = [];
  for (const row of [...rows].reverse()) {
    for (let last = list.at(-1); last && compareInstruments(last, row) > 0; last = list.at(-1)) {
      taken.push(last);
      list.pop();
    }
    taken.push(row);
  }
  for (const row of taken.reverse()) list.push(row);
}

/** Compares by code units, as the server does, whatever the phone's language is. */
export function compareInstruments(a: KeyFields, b: KeyFields): number {
  if (a.symbol !== b.symbol) return a.symbol < b.symbol ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}
