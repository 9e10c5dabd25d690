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
  /** By symbol, as the server sorts them. */
  readonly all: readonly Row[];
  readonly byId: ReadonlyMap<string, Row>;
  readonly search: CatalogSearch<Row>;

  constructor(version: string, byId: ReadonlyMap<string, Row>) {
    this.version = version;
    this.byId = byId;
    this.all = Object.freeze([...byId.values()].sort(compareInstruments));
    this.search = new CatalogSearch(this.all);
  }

  after({ version, reset, removed, upserted }: CopyChanges<Row>): CatalogCopy<Row> {
    if (!reset && version === this.version) return this;
    const byId = new Map(reset ? [] : this.byId);
    for (const id of removed) byId.delete(id);
    for (const row of upserted) byId.set(row.id, row);
    return new CatalogCopy(version, byId);
  }
}

/** Compares by code units, as the server does, whatever the phone's language is. */
function compareInstruments(a: KeyFields, b: KeyFields): number {
  return compareText(a.symbol, b.symbol) || compareText(a.id, b.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
