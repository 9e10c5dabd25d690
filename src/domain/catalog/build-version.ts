import type { Instrument } from '../../gateway/model.ts';
import { CatalogVersion } from './catalog-version.ts';
import { compareInstruments } from './compare.ts';
import { digestOf, versionOf } from './digest.ts';
import { Pace } from './pace.ts';
import { sortInSlices } from './sort-in-slices.ts';

/** Each changed instrument's previous digest, or null where it did not exist. */
export type Before = ReadonlyMap<string, string | null>;

export interface BuiltVersion {
  readonly version: CatalogVersion;
  readonly before: Before;
}

// Measured: an instrument takes about so many bytes of heap beside those of its text.
const INSTRUMENT_OVERHEAD_BYTES = 900;

/**
 * Makes a version of the gateway's answer. Unchanged instruments keep their object from the previous
 * version; where nothing changed, the previous version itself is returned, with its index.
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
  for (const [ordinal, received] of sorted.entries()) {
    if (pace.isDue) await pace.rest();
    const { id } = received;
    const now = digestOf(received);
    const then = previous?.digests.get(id) ?? null;
    const isSame = then === now.digest;
    const instrument = (isSame ? previous?.byId.get(id) : null) ?? received;
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
