import { useSyncExternalStore } from 'react';
import type { InstrumentField, KeyField } from '../catalog/instrument.ts';
import type { Instrument } from '../generated/rows.ts';
import { featureOf } from './any-client.ts';
import type { CatalogState } from './catalog-store.ts';
import { useProvided } from './provider.ts';

/**
 * Loads the catalog when the first component needs it, and again for another account. Where the client keeps few
 * `catalogFields`, they are the type's argument: `useCatalog<'digits' | 'logo'>()`.
 */
export function useCatalog<Field extends InstrumentField = InstrumentField>(): CatalogState<
  Pick<Instrument, Field | KeyField>
> {
  const { client, catalog } = useProvided();
  // A server renders what asks the client for nothing.
  featureOf(client, 'catalog');
  const { subscribe, snapshot, serverSnapshot } = catalog;
  const state = useSyncExternalStore(subscribe, snapshot, () => serverSnapshot);
  return state as CatalogState<Pick<Instrument, Field | KeyField>>;
}
