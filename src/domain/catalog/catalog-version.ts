import type { Instrument } from '../../gateway/model.ts';
import { buildIndex, type CatalogIndex } from './catalog-index.ts';

export interface CatalogContent {
  readonly version: string;
  /** By symbol, then id. */
  readonly instruments: readonly Instrument[];
  readonly byId: ReadonlyMap<string, Instrument>;
  /** Digest of each instrument's content, by id. */
  readonly digests: ReadonlyMap<string, string>;
  readonly bytes: number;
}

/** One immutable state of a group's catalog. */
export class CatalogVersion {
  readonly version: string;
  readonly instruments: readonly Instrument[];
  /** A Map, because ids such as `__proto__` are ids like any other. */
  readonly byId: ReadonlyMap<string, Instrument>;
  readonly digests: ReadonlyMap<string, string>;
  /** Estimated heap of the version without its index. */
  readonly bytes: number;
  #bySymbol: Uint32Array | null = null;
  #index: CatalogIndex | Promise<CatalogIndex> | null = null;

  constructor(content: CatalogContent) {
    this.version = content.version;
    this.instruments = content.instruments;
    this.byId = content.byId;
    this.digests = content.digests;
    this.bytes = content.bytes;
  }

  get size(): number {
    return this.instruments.length;
  }

  /** Every ordinal, which is the order by symbol. */
  get bySymbol(): Uint32Array {
    this.#bySymbol ??= Uint32Array.from(this.instruments.keys());
    return this.#bySymbol;
  }

  /** The index for search and for orders other than by symbol; a promise until it has been built. */
  get index(): CatalogIndex | Promise<CatalogIndex> {
    if (this.#index === null) {
      const building = buildIndex(this.instruments);
      this.#index = building;
      building.then(
        (index) => {
          this.#index = index;
        },
        // The next read builds the index again; the present readers get the promise's rejection.
        () => {
          this.#index = null;
        },
      );
    }
    return this.#index;
  }
}
