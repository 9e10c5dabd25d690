import type { CatalogReplica } from './catalog/catalog.ts';
import type { InstrumentField, KeyField } from './catalog/instrument.ts';
import { createCatalog } from './catalog/replica.ts';
import type { Feature } from './core-client.ts';
import type { Instrument } from './generated/rows.ts';

/** The part of a client that `catalog()` adds. */
export interface CatalogFeature<Field extends InstrumentField = InstrumentField> {
  /** The viewer's catalog on the device: `load` fetches it, and later what has changed since. */
  readonly catalog: CatalogReplica<Pick<Instrument, Field | KeyField>>;
}

/** The feature that keeps a copy of the catalog, with these fields of instruments beside id, symbol and name; with all where it is left out. */
export function catalog<Field extends InstrumentField = InstrumentField>(
  fields?: readonly Field[],
): Feature<CatalogFeature<Field>> {
  return (core) => ({ catalog: createCatalog(core, fields) });
}
