import type { TradingGraphError } from '../errors.ts';
import type { Instrument } from '../generated/rows.ts';
import type { Signal } from '../platform.ts';

/** The viewer's catalog, in memory: everything but `load` and `sync` answers at once, without the network. */
export interface CatalogReplica<Row = Instrument> {
  /**
   * Takes up the copy in storage, if there is one of the signed-in account and its group, and brings it up to date.
   * Rejects with a `TradingGraphError` only where there is no copy at all; else `ageSeconds` says how old it is. On a slow
   * line the catalog comes in parts, which are kept: the next `load` goes on where this one ended.
   */
  load(options?: LoadOptions): Promise<void>;
  /**
   * Fetches what has changed, for instance when the app is shown again. Calls at the same time are one. Rejects with a
   * `TradingGraphError`, and the copy stays as it is.
   */
  sync(): Promise<void>;
  /** Deletes what is kept of catalogs in the storage, and the copy in memory, as an app does when its user signs out. Rejects where something may be left. */
  forget(): Promise<void>;
  /**
   * False while the copy is one that `load({ account })` shows before the server has named that account, and where there
   * is none.
   */
  readonly confirmed: boolean;
  /** The instrument of that id, or null. */
  get(id: string): Row | null;
  /**
   * The instruments that match, best first and by symbol among equals: the symbol, its beginning, words of the name or
   * the description (where the copy has it) by their beginning, words with a typo. Without a text it is the first ones;
   * `limit` is 20.
   */
  search(text: string, options?: { readonly limit?: number }): readonly Row[];
  /** All of them by symbol: the same array until something changes. */
  readonly all: readonly Row[];
  readonly size: number;
  /** Names the content; null while there is no copy. */
  readonly version: string | null;
  /**
   * How old the copy is at least; null while there is none. It counts on by a clock that nobody sets, and over a restart
   * of the app by the device's.
   */
  readonly ageSeconds: number | null;
  /** Why it could not be loaded or brought up to date; null where that has worked since, and while the first copy is fetched. */
  readonly error: TradingGraphError | null;
  /** Why the storage last failed, null where it has worked since. It costs no more than fetching the whole catalog at the next start. */
  readonly storageError: unknown;
  /**
   * Calls back when the instruments, `confirmed` or `error` have changed, and when they are gone because another account is signed in: `load`
   * brings that one's. Returns a function that ends it.
   */
  onChange(listener: () => void): () => void;
}

export interface LoadOptions {
  /**
   * The login whose session the app holds. The copy in storage of that account is shown before the server has named it,
   * so that an app that starts offline has one. If the server names another, the copy is gone before any listener is called.
   */
  readonly account?: string | undefined;
  /** Called as instruments come: how many there are, of how many. */
  readonly onProgress?: ((progress: LoadProgress) => void) | undefined;
  /** Ends the waiting, and the download where nobody else waits for it; what came of it is kept. */
  readonly signal?: Signal | undefined;
  /** The longest wait; without it as long as something comes. */
  readonly timeoutMs?: number | undefined;
}

export interface LoadProgress {
  readonly loaded: number;
  readonly total: number;
}
