import type { CatalogReplica } from '../catalog/catalog.ts';
import type { KeyField } from '../catalog/instrument.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Instrument } from '../generated/rows.ts';
import { type AnyClient, featureOf } from './any-client.ts';

/** The catalog as it is now: another object whenever something has changed, so that it can be a dependency of `useMemo`. */
export interface CatalogState<Row = Instrument> {
  /** `loading`: there is no copy yet. `failed`: there is none, and `error` says why. */
  readonly status: 'loading' | 'ready' | 'failed';
  /** Why it could not be loaded or refreshed; null where that has worked since. */
  readonly error: TradingGraphError | null;
  /** All instruments by symbol. */
  readonly all: readonly Row[];
  readonly version: string | null;
  get(id: string): Row | null;
  /** Best first, as the server searches; without a text the first ones. `limit` is 20. */
  search(text: string, options?: { readonly limit?: number }): readonly Row[];
  /** Fetches what has changed, or everything where there is no copy. It never rejects: `error` says what failed. */
  refresh(): Promise<void>;
}

export type KeyRow = Pick<Instrument, KeyField>;

type Shown = Pick<CatalogReplica<KeyRow>, 'all' | 'version' | 'error' | 'get' | 'search'>;
const UNUSED: Shown = { all: [], version: null, error: null, get: () => null, search: () => [] };

/** The catalog of one client for all components of a provider. */
export class CatalogStore {
  readonly serverSnapshot: CatalogState<KeyRow>;
  readonly #client: AnyClient;
  #followers = 0;
  #end: (() => void) | null = null;
  #snapshot: CatalogState<KeyRow>;

  constructor(client: AnyClient) {
    this.#client = client;
    this.serverSnapshot = this.#describe(UNUSED);
    this.#snapshot = this.serverSnapshot;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    const leave = this.#catalog.onChange(listener);
    this.#followers += 1;
    this.#end ??= this.#begin();
    return () => {
      leave();
      this.#followers -= 1;
      if (this.#followers > 0) return;
      this.#end?.();
      this.#end = null;
    };
  };

  readonly snapshot = (): CatalogState<KeyRow> => {
    const catalog = this.#catalog;
    const { all, version, error } = catalog;
    const former = this.#snapshot;
    if (
      former.version === version &&
      former.error === error &&
      (version === null || former.all === all)
    )
      return former;
    this.#snapshot = this.#describe(catalog);
    return this.#snapshot;
  };

  readonly refresh = (): Promise<void> => this.#catalog.sync().catch(() => {});

  get #catalog(): CatalogReplica<KeyRow> {
    return featureOf(this.#client, 'catalog');
  }

  #describe(catalog: Shown): CatalogState<KeyRow> {
    const { all, version, error } = catalog;
    return {
      status: version !== null ? 'ready' : error === null ? 'loading' : 'failed',
      error,
      all,
      version,
      refresh: this.refresh,
      get: (id) => catalog.get(id),
      search: (text, options) => catalog.search(text, options),
    };
  }

  #begin(): () => void {
    if (this.#catalog.version === null) void this.refresh();
    return this.#client.onAccountChange((login) => {
      if (login !== null) void this.refresh();
    });
  }
}
