import { growingLru } from '../caches.ts';
import type { Clock } from '../clock.ts';
import type { MaybePromise } from '../maybe-promise.ts';

/** Keys that replicas share, each with an expiry date. */
export interface SharedKeys {
  add(key: string, untilMs: number): void;
  delete(key: string): void;
  /** False if the store does not answer. */
  has(key: string): Promise<boolean>;
}

const MAX_KEYS = 100_000;

/** Remembers keys that were proved valid, such as hashes of tokens. Without `shared`, only in this process. */
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
    const ageMs = this.#clock.now() - (this.#addedAtMs.get(key) ?? -Infinity);
    return ageMs < this.#lifeMs || (this.#shared?.has(key) ?? false);
  }
}
