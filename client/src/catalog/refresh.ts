import type { Core } from '../core.ts';
import type { TradingGraphError } from '../errors.ts';
import { abortedError, disposedError, protocolError, signedOutError } from '../request/failures.ts';
import type { LoadProgress } from './catalog.ts';
import type { CatalogSource, Fetched } from './catalog-source.ts';
import type { CatalogStorage } from './catalog-storage.ts';
import type { HeldCopy } from './held-copy.ts';
import type { AgedCopy } from './stored-copy.ts';

export interface RefreshParts {
  readonly core: Core;
  readonly source: CatalogSource;
  readonly storage: CatalogStorage | null;
  readonly held: HeldCopy;
  readonly onProgress: (progress: LoadProgress) => void;
}

const TRIES = 3;

/** Brings the copy in memory up to date, from the storage and from the server: always that of the account that is signed in. */
export class Refresh {
  readonly #parts: RefreshParts;
  #attempt = new AbortController();
  /** Grows when a copy that is being read must not be shown any more. */
  #generation = 0;

  constructor(parts: RefreshParts) {
    this.#parts = parts;
  }

  /** Drops what is there, and what is being fetched. */
  drop(): void {
    const { source, held } = this.#parts;
    this.#generation += 1;
    this.#attempt.abort();
    source.forget();
    held.drop();
  }

  /** Begins again for another account that is signed in meanwhile. */
  async untilCurrent(stopped: AbortSignal): Promise<void> {
    const { core, held } = this.#parts;
    for (let tries = 1; ; tries += 1) {
      const attempt = new AbortController();
      stopped.addEventListener('abort', () => attempt.abort());
      this.#attempt = attempt;
      try {
        return await this.#refresh(attempt.signal);
      } catch (error) {
        if (core.isDisposed) throw disposedError();
        if (stopped.aborted) throw abortedError();
        const { retryable } = error as TradingGraphError;
        // The server refuses the session, so its account cannot become known later either.
        if (!retryable && !held.current?.isConfirmed) {
          this.#generation += 1;
          held.drop();
        }
        if (!attempt.signal.aborted) throw error;
        if (tries >= TRIES) throw signedOutError('Another account was signed in again and again.');
      } finally {
        // A part that was asked for ahead is of no use where the one before it has failed.
        attempt.abort();
      }
    }
  }

  /** Shows the stored copy before the server has named the account, because the app says whose session it holds. */
  async showStored(account: string): Promise<void> {
    const { core, storage, held } = this.#parts;
    if (storage === null || held.current !== null) return;
    const generation = this.#generation;
    const stored = await storage.readAny(account);
    const isLate = core.isDisposed || held.current !== null || generation !== this.#generation;
    if (stored === null || isLate || (core.login !== null && core.login !== account)) return;
    this.#showAged(stored, core.login === account);
  }

  async #refresh(signal: AbortSignal): Promise<void> {
    const { core, source, held, onProgress } = this.#parts;
    const login = await core.account(signal);
    checkCurrent(signal);
    if (held.current?.owner.login !== login) held.drop();
    held.confirm();
    if (held.current === null) await this.#recall(login, signal);
    let former = held.current;
    for (let tries = 0; tries < TRIES; tries += 1) {
      const fetched = await source.changes(former, {
        login,
        signal,
        onPart: (part) => this.#keepPart(login, part),
        onProgress: (loaded, total) => onProgress({ loaded, total }),
      });
      await this.#confirm(login, signal);
      // The account was moved to another group, whose terms are others.
      if (held.current?.owner.group !== fetched.group) held.drop();
      if (this.#adopt(login, fetched)) return;
      former = null;
    }
    throw protocolError('The catalog does not have the size that the server says.');
  }

  /** Takes up the copy in storage, once the server has said whose it has to be. */
  async #recall(login: string, signal: AbortSignal): Promise<void> {
    const { source, storage } = this.#parts;
    // The question for the group is one round trip more.
    if (storage === null || !(await storage.has(login, signal))) return;
    checkCurrent(signal);
    const group = await source.group(login, signal);
    checkCurrent(signal);
    if (group === null) return;
    const owner = { login, group };
    const aged = await storage.read(owner, signal);
    await this.#confirm(login, signal);
    if (aged !== null) this.#showAged(aged, true);
  }

  #showAged({ owner, copy, ageSeconds, atMs }: AgedCopy, isConfirmed: boolean): void {
    const { core, held } = this.#parts;
    // A clock that was set back makes no copy younger than it was.
    const restedSeconds = Math.max(0, core.environment.now() - atMs) / 1_000;
    held.hold({ owner, copy, ageSeconds: ageSeconds + restedSeconds, isConfirmed });
  }

  /** Stores the parts of a first copy, which outlive the app so; beside another copy they would take that one's place. */
  #keepPart(login: string, part: Fetched): void {
    if (!this.#parts.held.current?.copy.isWhole) this.#save(login, part);
  }

  /** False where the answers do not lead to a whole copy. */
  #adopt(login: string, fetched: Fetched): boolean {
    const { copy, group, ageSeconds, size } = fetched;
    if (copy.all.length !== size) return false;
    this.#parts.held.hold({ owner: { login, group }, copy, ageSeconds, isConfirmed: true });
    this.#save(login, fetched);
    return true;
  }

  #save(login: string, { copy, group, ageSeconds }: Fetched): void {
    const { core, storage } = this.#parts;
    const atMs = core.environment.now();
    void storage?.save({ owner: { login, group }, copy, ageSeconds, atMs });
  }

  /** Somebody else may have signed in while it was waited for; where nobody has, the answer is memoized. */
  async #confirm(login: string, signal: AbortSignal): Promise<void> {
    if ((await this.#parts.core.account(signal)) !== login) this.drop();
    checkCurrent(signal);
  }
}

/** Ends what began for another account before anything of it is kept. */
function checkCurrent(signal: AbortSignal): void {
  if (signal.aborted) throw signedOutError('Another account, or none, is signed in.');
}
