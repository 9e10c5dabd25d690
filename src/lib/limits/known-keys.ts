import type { Clock } from '../clock.ts';
import { growingLru } from '../growing-lru.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/** Keys that replicas share, each until a date. */
export interface SharedKeys {
  add(key: string, untilMs: number): void;
  delete(key: string): void;
  /** False while the store does not answer. */
  has(key: string): Promise<boolean>;
}

const MAX_KEYS = 100_000;

/** Remembers what has proved itself once, such as the hashes of tokens; without `shared` as long as the process lives. */
export class KnownKeys {
  readonly #clock: Clock;
  readonly #lifeMs: number;
  readonly #shared: SharedKeys | undefined;
  readonly #addedAtMs = growingLru<string, number>({ maxEntries: MAX_KEYS, entryBytes: 200 });

  constructor(clock: Clock, lifeMs: number, shared?: SharedKeys) {
    this.#clock = clock;
    this.#lifeMs = lifeMs;
    this.#shared = shared;
  }

  get byteSize(): number {
    return this.#addedAtMs.calculatedSize;
  }

  add(key: string): void {
    this.#addedAtMs.set(key, this.#clock.now());
    this.#shared?.add(key, this.#clock.date() + this.#lifeMs);
  }

  delete(key: string): void {
    this.#addedAtMs.delete(key);
    this.#shared?.delete(key);
  }

  has(key: string): MaybePromise<boolean> {
    return this.hasHere(key) || (this.#shared?.has(key) ?? false);
  }

  /** The store is not asked. */
  hasHere(key: string): boolean {
    return this.#clock.now() - (this.#addedAtMs.get(key) ?? -Infinity) < this.#lifeMs;
  }
}
