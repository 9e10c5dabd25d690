import type { Instrument } from '../../gateway/model.ts';
import type { CatalogVersion } from './catalog-version.ts';
import { compareInstruments, compareText } from './compare.ts';

export interface CatalogChanges {
  readonly version: string;
  /** A client that has an older version starts anew from `upserted`. */
  readonly reset: boolean;
  readonly upserted: readonly Instrument[];
  readonly removed: readonly string[];
}

export function noChanges({ version }: CatalogVersion): CatalogChanges {
  return { version, reset: false, upserted: [], removed: [] };
}

export function everything({ version, instruments }: CatalogVersion): CatalogChanges {
  return { version, reset: true, upserted: instruments, removed: [] };
}

/**
 * The difference between a version and an earlier one of which the digests of these ids are known (null
 * for an id that did not exist). An instrument that changed and changed back is left out.
 */
export function changesTo(
  version: CatalogVersion,
  before: Iterable<readonly [string, string | null]>,
): CatalogChanges {
  const upserted: Instrument[] = [];
  const removed: string[] = [];
  for (const [id, digest] of before) {
    if (version.digests.get(id) === (digest ?? undefined)) continue;
    const instrument = version.byId.get(id);
    if (instrument) upserted.push(instrument);
    else removed.push(id);
  }
  upserted.sort(compareInstruments);
  removed.sort(compareText);
  return { version: version.version, reset: false, upserted, removed };
}
