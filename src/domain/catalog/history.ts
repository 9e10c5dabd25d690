import { LRUCache } from 'lru-cache';
import type { Instrument } from '../../gateway/operations/get-all-tickers.ts';
import type { CatalogVersion } from './catalog-version.ts';

export interface CatalogChanges {
  readonly version: string;
  /** If true, the client replaces its whole catalog with `upserted`. */
  readonly reset: boolean;
  readonly upserted: readonly Instrument[];
  readonly removed: readonly string[];
}

// Measured with a tenth of the instruments changed in each version: the versions share the other digests.
const INSTRUMENT_BYTES = 50;

/** The content digests of a group's latest versions. */
export class History {
  readonly #digests: LRUCache<string, CatalogVersion['digests']>;

  constructor(maxBytes: number) {
    this.#digests = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ size }) => (size + 1) * INSTRUMENT_BYTES,
    });
  }

  /** The estimated size of all digests. */
  get bytes(): number {
    return this.#digests.calculatedSize;
  }

  add({ version, digests }: CatalogVersion): void {
    this.#digests.set(version, digests);
  }

  /** The difference from a version that a client has; everything if that version is unknown. */
  changes(since: string, { version, instruments, byId, digests }: CatalogVersion): CatalogChanges {
    if (since === version) return { version, reset: false, upserted: [], removed: [] };
    const former = this.#digests.get(since);
    if (!former) return { version, reset: true, upserted: instruments, removed: [] };
    const upserted = instruments.filter(({ id }) => former.get(id) !== digests.get(id));
    // Digests are in the order of the instruments on all replicas, so that their answers have the same ETag.
    const removed = [...former.keys()].filter((id) => !byId.has(id));
    return { version, reset: false, upserted, removed };
  }
}
