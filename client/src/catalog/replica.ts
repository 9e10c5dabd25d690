import type { Core } from '../core.ts';
import { TradingGraphError } from '../errors.ts';
import {
  abortedError,
  disposedError,
  networkError,
  protocolError,
  signedOutError,
} from '../request/failures.ts';
import type { CatalogReplica, LoadOptions, LoadProgress } from './catalog.ts';
import { CatalogCopy } from './catalog-copy.ts';
import { CatalogSource, type FetchedChanges } from './catalog-source.ts';
import { CatalogStorage } from './catalog-storage.ts';
import type { InstrumentField, KeyFields } from './instrument.ts';
import type { AgedCopy, Owner } from './stored-copy.ts';

interface Held {
  readonly owner: Owner;
  readonly copy: CatalogCopy<KeyFields>;
  readonly ageSeconds: number;
  /** When it had that age, by the clock that nobody sets. */
  readonly atUptimeMs: number;
  /** False while only the app has said that its owner is signed in. */
  readonly isConfirmed: boolean;
}

/** A refresh that is under way. */
interface Run {
  done: Promise<void>;
  controller: AbortController;
  isStopped: boolean;
}

const DEFAULT_LIMIT = 20;
const TRIES = 3;
const NOTHING = Promise.resolve();
const NONE = new CatalogCopy<KeyFields>('', new Map());

export class Replica<Row extends KeyFields> implements CatalogReplica<Row> {
  readonly #core: Core;
  readonly #source: CatalogSource;
  readonly #storage: CatalogStorage | null;
  readonly #listeners = new Set<() => void>();
  #held: Held | null = null;
  #saved: CatalogCopy<KeyFields> | null = null;
  #run: Run | null = null;
  #isWatching = false;
  /** Grows when a copy that is being read must not be shown any more. */
  #generation = 0;
  #waiting = 0;
  readonly #progress = new Set<(progress: LoadProgress) => void>();

  constructor(core: Core, fields: readonly InstrumentField[]) {
    const { storage, environment } = core;
    this.#core = core;
    this.#source = new CatalogSource(core, fields);
    this.#storage = storage && new CatalogStorage(storage, environment, fields);
  }

  async load({ account, onProgress, signal, timeoutMs }: LoadOptions = {}): Promise<void> {
    const listener = (progress: LoadProgress) => this.#call(() => onProgress?.(progress));
    this.#progress.add(listener);
    const showing = account === undefined ? null : this.#showStored(account);
    try {
      await this.#wait(signal, timeoutMs);
    } catch (error) {
      await showing;
      if (this.#held === null) throw error;
    } finally {
      this.#progress.delete(listener);
    }
  }

  sync(): Promise<void> {
    return this.#wait();
  }

  async forget(): Promise<void> {
    this.#stop();
    this.#drop();
    await this.#storage?.forget(new AbortController().signal).catch((cause) => {
      throw new TradingGraphError('The stored catalog may still be there.', {
        code: 'STORAGE',
        retryable: true,
        cause,
      });
    });
  }

  /** Rejects when the caller's own time is over; what is fetched goes on while others wait for it. */
  async #wait(signal?: AbortSignal, timeoutMs?: number): Promise<void> {
    if (this.#core.isDisposed) throw disposedError();
    if (signal?.aborted) throw abortedError();
    this.#watch();
    const run = this.#run ?? this.#start();
    let cancel = () => {};
    let leave = () => {};
    const over = new Promise<never>((_resolve, reject) => {
      leave = () => reject(abortedError());
      signal?.addEventListener('abort', leave);
      if (timeoutMs === undefined) return;
      const giveUp = () => reject(networkError('The catalog did not come in time.'));
      cancel = this.#core.environment.after(timeoutMs, giveUp);
    });
    this.#waiting += 1;
    try {
      await Promise.race([run.done, over]);
    } finally {
      this.#waiting -= 1;
      cancel();
      signal?.removeEventListener('abort', leave);
      if (this.#waiting === 0 && this.#run === run) this.#stop();
    }
  }

  /** Ends what is under way, without an error of its own. */
  #stop(): void {
    const run = this.#run;
    if (run === null) return;
    this.#run = null;
    run.isStopped = true;
    run.controller.abort();
  }

  #start(): Run {
    const run: Run = { done: NOTHING, controller: new AbortController(), isStopped: false };
    this.#run = run;
    run.done = this.#refreshUntilCurrent(run).finally(() => {
      if (this.#run === run) this.#run = null;
    });
    // Where nobody waits any more, its error is nobody's.
    run.done.catch(() => {});
    return run;
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
    return this.#shown?.copy.version ?? null;
  }

  get ageSeconds(): number | null {
    const shown = this.#shown;
    return shown === null ? null : Math.floor(this.#ageOf(shown));
  }

  get confirmed(): boolean {
    return this.#shown?.isConfirmed ?? false;
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
    return (this.#shown?.copy ?? NONE) as CatalogCopy<Row>;
  }

  /** Nothing of an account but the one that the server has named, if it has named one. */
  get #shown(): Held | null {
    const { login } = this.#core;
    const isOthers = login !== null && this.#held !== null && this.#held.owner.login !== login;
    return isOthers ? null : this.#held;
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
  async #refreshUntilCurrent(run: Run): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const controller = new AbortController();
      run.controller = controller;
      try {
        return await this.#refresh(controller.signal);
      } catch (error) {
        if (this.#core.isDisposed) throw disposedError();
        if (run.isStopped) throw abortedError();
        // The server refuses the session, so its account cannot become known later either.
        if (!(error as TradingGraphError).retryable && this.#held?.isConfirmed === false) {
          this.#hold(null);
        }
        if (!controller.signal.aborted) throw error;
        if (tries >= TRIES) throw signedOutError('Another account was signed in again and again.');
      }
    }
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const login = await this.#core.account(signal);
    this.#checkCurrent(signal);
    if (this.#held !== null && this.#held.owner.login !== login) this.#hold(null);
    if (this.#held?.isConfirmed === false) this.#hold({ ...this.#held, isConfirmed: true });
    if (this.#held === null) await this.#recall(login, signal);
    let since = this.#held?.copy ?? NONE;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const changes = await this.#source.changes(since.version, {
        login,
        signal,
        onStep: (download, step) => this.#storage?.keepStep(download, step),
        onProgress: (loaded, total) => {
          for (const listener of [...this.#progress]) listener({ loaded, total });
        },
      });
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
    const isWorking = this.#storage.error === null;
    if (aged === null && isWorking && this.#source.begun(login) === null) {
      this.#source.resume(await this.#storage.readSteps(owner, signal));
    }
    await this.#confirm(login, signal);
    if (aged !== null) this.#showAged(owner, aged, true);
  }

  /** Before the server has named the account: the app says whose session it holds. */
  async #showStored(account: string): Promise<void> {
    if (this.#storage === null || this.#held !== null) return;
    const generation = this.#generation;
    const never = new AbortController().signal;
    const stored = await this.#storage.readAny(account, never);
    const { login, isDisposed } = this.#core;
    const isLate = isDisposed || this.#held !== null || generation !== this.#generation;
    if (stored === null || isLate || (login !== null && login !== account)) return;
    this.#showAged(stored.owner, stored, login === account);
  }

  #showAged(owner: Owner, aged: AgedCopy, isConfirmed: boolean): void {
    const { environment } = this.#core;
    // A clock that was set back makes no copy younger than it was.
    const restedSeconds = Math.max(0, environment.now() - aged.atMs) / 1_000;
    this.#saved = aged.copy;
    this.#hold({
      owner,
      copy: aged.copy,
      ageSeconds: aged.ageSeconds + restedSeconds,
      atUptimeMs: environment.uptime(),
      isConfirmed,
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
    this.#hold({ owner, copy, ageSeconds, atUptimeMs: environment.uptime(), isConfirmed: true });
    if (copy === this.#saved) return true;
    this.#storage?.save(owner, { copy, ageSeconds, atMs: environment.now() }, () => {
      this.#saved = copy;
    });
    return true;
  }

  #drop(): void {
    this.#generation += 1;
    this.#run?.controller.abort();
    this.#source.resume(null);
    this.#hold(null);
  }

  #hold(held: Held | null): void {
    const former = this.#held;
    this.#held = held;
    const isSame = former?.copy === held?.copy && former?.isConfirmed === held?.isConfirmed;
    if (isSame) return;
    for (const listener of [...this.#listeners]) this.#call(listener);
  }

  #call(listener: () => void): void {
    try {
      listener();
    } catch (thrown) {
      // Reported as the platform reports errors, without ending anything of the client's.
      this.#core.environment.after(0, () => {
        throw thrown;
      });
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
