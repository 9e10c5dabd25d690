import type { Core } from '../core.ts';
import { disposedError, protocolError, signedOutError } from '../request/failures.ts';
import type { CatalogReplica } from './catalog.ts';
import { CatalogCopy } from './catalog-copy.ts';
import { CatalogSource, type FetchedChanges } from './catalog-source.ts';
import { CatalogStorage } from './catalog-storage.ts';
import type { InstrumentField, KeyFields } from './instrument.ts';
import type { Owner } from './stored-copy.ts';

interface Held {
  readonly owner: Owner;
  readonly copy: CatalogCopy<KeyFields>;
  readonly ageSeconds: number;
  /** When it had that age, by the clock that nobody sets. */
  readonly atUptimeMs: number;
}

const DEFAULT_LIMIT = 20;
const TRIES = 3;
const NONE = new CatalogCopy<KeyFields>('', new Map());

export class Replica<Row extends KeyFields> implements CatalogReplica<Row> {
  readonly #core: Core;
  readonly #source: CatalogSource;
  readonly #storage: CatalogStorage | null;
  readonly #listeners = new Set<() => void>();
  #held: Held | null = null;
  #saved: CatalogCopy<KeyFields> | null = null;
  #syncing: Promise<void> | null = null;
  #controller: AbortController | null = null;
  #isWatching = false;

  constructor(core: Core, fields: readonly InstrumentField[]) {
    const { storage, environment } = core;
    this.#core = core;
    this.#source = new CatalogSource(core, fields);
    this.#storage = storage && new CatalogStorage(storage, environment, fields);
  }

  async load(): Promise<void> {
    try {
      await this.sync();
    } catch (error) {
      if (this.#held === null) throw error;
    }
  }

  sync(): Promise<void> {
    if (this.#core.isDisposed) return Promise.reject(disposedError());
    this.#watch();
    this.#syncing ??= this.#refreshUntilCurrent().finally(() => {
      this.#syncing = null;
    });
    return this.#syncing;
  }

  get(id: string): Row | null {
    return this.#rows.byId.get(id) ?? null;
  }

  search(
    text: string,
    { limit = DEFAULT_LIMIT }: { readonly limit?: number } = {},
  ): readonly Row[] {
    return this.#rows.search(text, limit);
  }

  get all(): readonly Row[] {
    return this.#rows.all;
  }

  get size(): number {
    return this.#rows.all.length;
  }

  get version(): string | null {
    return this.#held?.copy.version ?? null;
  }

  get ageSeconds(): number | null {
    return this.#held === null ? null : Math.floor(this.#ageOf(this.#held));
  }

  get storageError(): unknown {
    return this.#storage?.error ?? null;
  }

  onChange(listener: () => void): () => void {
    // A listener may be given twice, and each is ended by itself.
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  get #rows(): CatalogCopy<Row> {
    // The server answers with the selected fields, which are those of a row.
    return (this.#held?.copy ?? NONE) as CatalogCopy<Row>;
  }

  /** Begins with the first use, because asking for the account costs a request. */
  #watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const stop = this.#core.onAccountChange(() => this.#drop());
    this.#core.onDispose(() => {
      stop();
      this.#listeners.clear();
      this.#drop();
    });
  }

  /** Begins again for another account that is signed in meanwhile. */
  async #refreshUntilCurrent(): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const controller = new AbortController();
      this.#controller = controller;
      try {
        return await this.#refresh(controller.signal);
      } catch (error) {
        if (this.#core.isDisposed) throw disposedError();
        if (!controller.signal.aborted) throw error;
        if (tries >= TRIES) throw signedOutError('Another account was signed in again and again.');
      } finally {
        this.#controller = null;
      }
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const login = await this.#core.account(signal);
    this.#checkCurrent(signal);
    if (this.#held !== null && this.#held.owner.login !== login) this.#hold(null);
    if (this.#held === null) await this.#recall(login, signal);
    let since = this.#held?.copy ?? NONE;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const changes = await this.#source.changes(since.version, login, signal);
      await this.#confirm(login, signal);
      const owner = { login, group: changes.group };
      // The account was moved to another group, whose terms are others.
      if (this.#held !== null && this.#held.owner.group !== owner.group) this.#hold(null);
      if (this.#adopt(owner, since, changes)) return;
      since = NONE;
    }
    throw protocolError('The catalog does not have the size that the server says.');
  }

  /** Takes up the copy in storage, once the server has said whose it has to be. */
  async #recall(login: string, signal: AbortSignal): Promise<void> {
    if (this.#storage === null) return;
    const group = await this.#source.group(login, signal);
    this.#checkCurrent(signal);
    if (group === null) return;
    const owner = { login, group };
    const aged = await this.#storage.read(owner, signal);
    await this.#confirm(login, signal);
    if (aged === null) return;
    const { environment } = this.#core;
    // A clock that was set back makes no copy younger than it was.
    const restedSeconds = Math.max(0, environment.now() - aged.atMs) / 1_000;
    this.#saved = aged.copy;
    this.#hold({
      owner,
      copy: aged.copy,
      ageSeconds: aged.ageSeconds + restedSeconds,
      atUptimeMs: environment.uptime(),
    });
  }

  /** False where the changes do not lead from the former copy to a whole one, as of another group's. */
  #adopt(owner: Owner, former: CatalogCopy<KeyFields>, changes: FetchedChanges): boolean {
    const isOfGroup = former === NONE || this.#held?.owner.group === owner.group;
    if (!isOfGroup && !changes.reset) return false;
    const copy = former.after(changes);
    if (copy.all.length !== changes.size) return false;
    const { environment } = this.#core;
    const { ageSeconds } = changes;
    this.#hold({ owner, copy, ageSeconds, atUptimeMs: environment.uptime() });
    if (copy === this.#saved) return true;
    this.#storage?.save(owner, { copy, ageSeconds, atMs: environment.now() }, () => {
      this.#saved = copy;
    });
    return true;
  }

  #drop(): void {
    this.#controller?.abort();
    this.#hold(null);
  }

  #hold(held: Held | null): void {
    const former = this.#held;
    this.#held = held;
    if (former?.copy === held?.copy) return;
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (thrown) {
        // Reported as the platform reports errors, without ending anything of the client's.
        this.#core.environment.after(0, () => {
          throw thrown;
        });
      }
    }
  }

  /** Somebody else may have signed in while it was waited for; where nobody has, the answer is memoized. */
  async #confirm(login: string, signal: AbortSignal): Promise<void> {
    if ((await this.#core.account(signal)) !== login) this.#drop();
    this.#checkCurrent(signal);
  }

  /** Ends what began for another account before anything of it is kept. */
  #checkCurrent(signal: AbortSignal): void {
    if (signal.aborted) throw signedOutError('Another account, or none, is signed in.');
  }

  #ageOf({ ageSeconds, atUptimeMs }: Held): number {
    return ageSeconds + Math.max(0, this.#core.environment.uptime() - atUptimeMs) / 1_000;
  }
}
