import type { Core } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import { INSTRUMENT_FIELDS, type Instrument } from '../generated/rows.ts';
import { Listeners } from '../listeners.ts';
import {
  asTradingGraphError,
  disposedError,
  signedOutError,
  storageError,
} from '../request/failures.ts';
import type { CatalogReplica, LoadOptions, LoadProgress } from './catalog.ts';
import { type CatalogCopy, NONE } from './catalog-copy.ts';
import { CatalogSource } from './catalog-source.ts';
import { CatalogStorage } from './catalog-storage.ts';
import { HeldCopy } from './held-copy.ts';
import { type InstrumentField, KEY_FIELDS, type KeyField, type KeyFields } from './instrument.ts';
import { Refresh } from './refresh.ts';
import { SharedRun } from './shared-run.ts';

const DEFAULT_LIMIT = 20;

/** Makes a copy of the catalog that is empty until it is loaded, with these fields beside id, symbol and name. */
export function createCatalog<Field extends InstrumentField = InstrumentField>(
  core: Core,
  fields: readonly Field[] = INSTRUMENT_FIELDS as readonly Field[],
): CatalogReplica<Pick<Instrument, Field | KeyField>> {
  // The fields are checked, because they become part of a document.
  const unknown = fields.find((field) => !INSTRUMENT_FIELDS.includes(field));
  if (unknown !== undefined) throw new TypeError(`Instruments have no field ${unknown}.`);
  const wanted = new Set<InstrumentField>([...KEY_FIELDS, ...fields]);
  return new Replica(
    core,
    INSTRUMENT_FIELDS.filter((field) => wanted.has(field)),
  );
}

class Replica<Row extends KeyFields> implements CatalogReplica<Row> {
  readonly #core: Core;
  readonly #held: HeldCopy;
  readonly #storage: CatalogStorage | null;
  readonly #refresh: Refresh;
  readonly #run: SharedRun;
  readonly #progress: Listeners<[progress: LoadProgress]>;
  #error: TradingGraphError | null = null;
  #isWatching = false;

  constructor(core: Core, fields: readonly InstrumentField[]) {
    const { storage, environment } = core;
    this.#core = core;
    this.#held = new HeldCopy(core);
    this.#progress = new Listeners(environment);
    this.#storage = storage && new CatalogStorage(storage, environment, fields);
    this.#refresh = new Refresh({
      core,
      source: new CatalogSource(core, fields),
      storage: this.#storage,
      held: this.#held,
      onProgress: (progress) => this.#progress.tell(progress),
    });
    this.#run = new SharedRun(environment, (signal) => this.#bring(signal));
  }

  async load({ account, onProgress, signal, timeoutMs }: LoadOptions = {}): Promise<void> {
    const leave = this.#progress.add((progress) => onProgress?.(progress));
    const showing = account === undefined ? null : this.#refresh.showStored(account);
    try {
      await this.#wait(signal, timeoutMs);
    } catch (error) {
      await showing;
      if (this.#held.shown === null) throw error;
    } finally {
      leave();
    }
  }

  sync(): Promise<void> {
    return this.#wait();
  }

  async forget(): Promise<void> {
    this.#run.stop();
    this.#refresh.drop();
    await this.#storage?.forget().catch((cause) => {
      throw storageError('The stored catalog may still be there.', cause);
    });
  }

  get(id: string): Row | null {
    return this.#rows.byId.get(id) ?? null;
  }

  search(
    text: string,
    { limit = DEFAULT_LIMIT }: { readonly limit?: number } = {},
  ): readonly Row[] {
    return this.#rows.search.find(text, limit);
  }

  get all(): readonly Row[] {
    return this.#rows.all;
  }

  get size(): number {
    return this.#rows.all.length;
  }

  get version(): string | null {
    return this.#held.shown?.copy.version ?? null;
  }

  get ageSeconds(): number | null {
    return this.#held.ageSeconds;
  }

  get confirmed(): boolean {
    return this.#held.shown?.isConfirmed ?? false;
  }

  get error(): TradingGraphError | null {
    return this.#error;
  }

  get storageError(): unknown {
    return this.#storage?.error ?? null;
  }

  onChange(listener: () => void): () => void {
    return this.#held.listeners.add(listener);
  }

  get #rows(): CatalogCopy<Row> {
    // The server answers with the selected fields, which are those of a row.
    return (this.#held.shown?.copy ?? NONE) as CatalogCopy<Row>;
  }

  async #wait(signal?: AbortSignal, timeoutMs?: number): Promise<void> {
    if (this.#core.isDisposed) throw this.#note(disposedError());
    this.#watch();
    await this.#run.wait(signal, timeoutMs);
  }

  async #bring(signal: AbortSignal): Promise<void> {
    if (this.#held.shown === null) this.#note(null);
    try {
      await this.#refresh.untilCurrent(signal);
      this.#note(null);
    } catch (error) {
      // Where nobody waits any more, it has not failed.
      throw signal.aborted ? error : this.#note(asTradingGraphError(error));
    }
  }

  #note(error: TradingGraphError | null): TradingGraphError | null {
    const isNews = this.#error !== error;
    this.#error = error;
    if (isNews) this.#held.listeners.tell();
    return error;
  }

  /** Begins with the first use, because asking for the account costs a request. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const stop = this.#core.onAccountChange((login) => {
      this.#note(login === null ? signedOutError() : null);
      this.#refresh.drop();
    });
    this.#core.onDispose(() => {
      stop();
      this.#held.listeners.clear();
      this.#refresh.drop();
    });
  }
}
