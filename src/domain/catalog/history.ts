import type { Instrument } from '../../gateway/operations/get-all-tickers.ts';
import { type Before, type CatalogVersion, compareInstruments } from './catalog-version.ts';
import { compareText } from './sorting.ts';

export interface CatalogChanges {
  readonly version: string;
  /** If true, the client replaces its whole catalog with `upserted`. */
  readonly reset: boolean;
  readonly upserted: readonly Instrument[];
  readonly removed: readonly string[];
}

interface Step {
  readonly from: string;
  readonly to: string;
  readonly before: Before;
  readonly bytes: number;
}

// A map entry with the texts of its key and its digest.
const CHANGE_BYTES = 120;
const STEP_BYTES = 400;

/** The steps between a group's versions. A step keeps only the digests of what changed, so a former version costs little. */
export class History {
  readonly #maxBytes: number;
  readonly #steps: Step[] = [];
  /** The estimated size of all steps. */
  bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(from: CatalogVersion, to: CatalogVersion, before: Before): void {
    const bytes = STEP_BYTES + before.size * CHANGE_BYTES;
    this.#steps.push({ from: from.version, to: to.version, before, bytes });
    this.bytes += bytes;
    while (this.bytes > this.#maxBytes) this.bytes -= this.#steps.shift()?.bytes ?? this.bytes;
  }

  /** The difference from a version that a client has; everything if that version is unknown. */
  changes(since: string, to: CatalogVersion): CatalogChanges {
    const { version, instruments } = to;
    if (since === version) return { version, reset: false, upserted: [], removed: [] };
    // Content can recur, so there can be several paths. The latest is the shortest.
    const last = this.#steps.findLastIndex((step) => step.to === version);
    const first = this.#steps.slice(0, last + 1).findLastIndex((step) => step.from === since);
    if (first < 0) return { version, reset: true, upserted: instruments, removed: [] };
    // The first step that changed an instrument has its original digest, so the steps are applied from last to first.
    const path = this.#steps.slice(first, last + 1).toReversed();
    return changesTo(to, new Map(path.flatMap(({ before }) => [...before])));
  }
}

/**
 * The difference from an earlier version, given the earlier digests of the changed ids (null for an id that did not exist).
 * An instrument that changed and changed back is left out.
 */
function changesTo(
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
  // The same order on all replicas, so that their answers have the same ETag.
  removed.sort(compareText);
  return { version: version.version, reset: false, upserted, removed };
}
