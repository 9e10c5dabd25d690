import type { Instrument } from '../../gateway/model.ts';
import { CatalogVersion } from './catalog-version.ts';
import { compareInstruments } from './compare.ts';
import { digestOf, versionOf } from './digest.ts';
import { Pace } from './pace.ts';
import { sortInSlices } from './sort-in-slices.ts';

/** What each changed instrument was before: its digest, or null where there was none. */
export type Before = ReadonlyMap<string, string | null>;

export interface BuiltVersion {
  readonly version: CatalogVersion;
  readonly before: Before;
}

// Measured: an instrument takes about so many bytes of heap beside those of its text.
const INSTRUMENT_OVERHEAD_BYTES = 900;

/**
 * Makes a version of what the gateway answered. What did not change is taken over from the previous
 * version, object by object; where nothing did, the previous version itself, with its index.
 */
export async function buildVersion(
  instruments: readonly Instrument[],
  previous: CatalogVersion | null,
): Promise<BuiltVersion> {
  const pace = new Pace();
  const sorted = await sortInSlices(instruments, compareInstruments, pace);
  const byId = new Map<string, Instrument>();
  const digests = new Map<string, string>();
  const before = new Map<string, string | null>();
  let bytes = 0;
  for (const [ordinal, arrived] of sorted.entries()) {
    if (pace.isDue) await pace.rest();
    const { id } = arrived;
    const now = digestOf(arrived);
    const then = previous?.digests.get(id) ?? null;
    const isSame = then === now.digest;
    const instrument = (isSame ? previous?.byId.get(id) : null) ?? arrived;
    if (!isSame) before.set(id, then);
    sorted[ordinal] = instrument;
    byId.set(id, instrument);
    digests.set(id, isSame ? then : now.digest);
    bytes += now.bytes + INSTRUMENT_OVERHEAD_BYTES;
  }
  for (const [id, digest] of previous?.digests ?? []) {
    if (pace.isDue) await pace.rest();
    if (!byId.has(id)) before.set(id, digest);
  }
  if (previous && before.size === 0) return { version: previous, before };
  const version = versionOf(digests.values());
  const content = { version, instruments: sorted, byId, digests, bytes };
  return { version: new CatalogVersion(content), before };
}
