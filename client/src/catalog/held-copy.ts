import type { Core } from '../core.ts';
import { CatalogCopy, type Owner } from './catalog-copy.ts';
import type { KeyFields } from './instrument.ts';

export interface Held {
  readonly owner: Owner;
  readonly copy: CatalogCopy<KeyFields>;
  readonly ageSeconds: number;
  /** False while only the app has said that its owner is signed in. */
  readonly isConfirmed: boolean;
}

/** A frame of the screen has twice as long. */
const PIECE_MS = 8;

export const NONE: CatalogCopy<KeyFields> = new CatalogCopy('', new Map());

/** Holds the copy in memory, and calls its listeners when it changes. */
export class HeldCopy {
  readonly #core: Core;
  readonly #listeners = new Set<() => void>();
  #held: Held | null = null;
  /** When the copy had the age that is noted with it, by a clock that nobody sets. */
  #atUptimeMs = 0;
  #cancelPiece: () => void = () => {};

  constructor(core: Core) {
    this.#core = core;
  }

  get current(): Held | null {
    return this.#held;
  }

  /** The copy; null where the server has named another account than its owner. */
  get shown(): Held | null {
    const { login } = this.#core;
    const isOthers = login !== null && this.#held?.owner.login !== login;
    return isOthers ? null : this.#held;
  }

  get ageSeconds(): number | null {
    const { shown } = this;
    if (shown === null) return null;
    const restedMs = Math.max(0, this.#core.environment.uptime() - this.#atUptimeMs);
    return Math.floor(shown.ageSeconds + restedMs / 1_000);
  }

  onChange(listener: () => void): () => void {
    // A listener may be given twice, and each is ended by itself.
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  endListeners(): void {
    this.#listeners.clear();
  }

  /** Replaces the copy by another one, whose age is given as of now. */
  hold(held: Held): void {
    this.#atUptimeMs = this.#core.environment.uptime();
    this.#replace(held);
  }

  confirm(): void {
    if (this.#held !== null) this.#replace({ ...this.#held, isConfirmed: true });
  }

  drop(): void {
    this.#replace(null);
  }

  /** Calls a function of the app's. */
  call(listener: () => void): void {
    try {
      listener();
    } catch (thrown) {
      // The platform reports the error, and nothing of the client's ends.
      this.#core.environment.after(0, () => {
        throw thrown;
      });
    }
  }

  #replace(held: Held | null): void {
    const former = this.#held;
    this.#held = held;
    const isSame = former?.copy === held?.copy && former?.isConfirmed === held?.isConfirmed;
    if (isSame) return;
    if (former?.copy !== held?.copy) this.#indexNext();
    for (const listener of [...this.#listeners]) this.call(listener);
  }

  /** Prepares the first search piece by piece: at once it would stop a slow phone for half a second. */
  #indexNext(): void {
    this.#cancelPiece();
    const search = this.#held?.copy.search;
    if (search === undefined) return;
    const { after, uptime } = this.#core.environment;
    this.#cancelPiece = after(0, () => {
      const startedAt = uptime();
      if (!search.index(() => uptime() - startedAt < PIECE_MS)) this.#indexNext();
    });
  }
}
