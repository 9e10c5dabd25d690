import type { Core } from '../core.ts';
import { Listeners } from '../listeners.ts';
import type { CatalogCopy, Owner } from './catalog-copy.ts';
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

/** Holds the copy in memory, and calls its listeners when it changes. */
export class HeldCopy {
  readonly #core: Core;
  readonly listeners: Listeners;
  #held: Held | null = null;
  /** When the copy had the age that is noted with it, by a clock that nobody sets. */
  #atUptimeMs = 0;
  #cancelPiece: () => void = () => {};

  constructor(core: Core) {
    this.#core = core;
    this.listeners = new Listeners(core.environment);
  }

  get current(): Held | null {
    return this.#held;
  }

  /** The copy; null where it is not whole, or the server has named another account than its owner. */
  get shown(): Held | null {
    const { login } = this.#core;
    const isOthers = login !== null && this.#held?.owner.login !== login;
    return isOthers || this.#held?.copy.isWhole === false ? null : this.#held;
  }

  get ageSeconds(): number | null {
    const { shown } = this;
    if (shown === null) return null;
    const restedMs = Math.max(0, this.#core.environment.uptime() - this.#atUptimeMs);
    return Math.floor(shown.ageSeconds + restedMs / 1_000);
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

  #replace(held: Held | null): void {
    const former = this.#held;
    this.#held = held;
    const isSame = former?.copy === held?.copy && former?.isConfirmed === held?.isConfirmed;
    if (isSame) return;
    if (former?.copy !== held?.copy) this.#indexNext();
    this.listeners.tell();
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
