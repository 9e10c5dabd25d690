import type { CatalogReplica } from './catalog/catalog.ts';
import type { InstrumentField, KeyField } from './catalog/instrument.ts';
import { createCatalog } from './catalog/replica.ts';
import type { Feature } from './core-client.ts';
import type { Instrument } from './generated/rows.ts';

/** What a client has by `catalog()`. */
export interface CatalogFeature<Field extends InstrumentField = InstrumentField> {
  /** A copy of the viewer's catalog, kept up to date when it is told to. */
  readonly catalog: CatalogReplica<Pick<Instrument, Field | KeyField>>;
}

/** The feature that keeps a copy of the catalog, with these fields of instruments beside id, symbol and name; with all where it is left out. */
export function catalog<Field extends InstrumentField = InstrumentField>(
  fields?: readonly Field[],
): Feature<CatalogFeature<Field>> {
  return (core) => ({ catalog: createCatalog(core, fields) });
}
