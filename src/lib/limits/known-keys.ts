import type { Clock } from '../clock.ts';
import type { Eventually } from '../eventually.ts';
import { growingLru } from '../growing-lru.ts';

/** Keys that replicas share, each until a date. */
export interface SharedKeys {
  add(key: string, untilMs: number): void;
  delete(key: string): void;
  /** False while the store does not answer. */
  has(key: string): Promise<boolean>;
}

const MOST_KEYS = 100_000;
const JUST_MS = 60_000;

/** Remembers what has proved itself once, such as the hashes of tokens: nobody has made it up. */
export class KnownKeys {
  readonly #clock: Clock;
  readonly #lifeMs: number;
  readonly #shared: SharedKeys | undefined;
  /** When each was added. */
  readonly #atMs = growingLru<string, number>({ maxEntries: MOST_KEYS, entryBytes: 200 });

  /** Without `shared` this process remembers for itself. */
  constructor(clock: Clock, lifeMs: number, shared?: SharedKeys) {
    this.#clock = clock;
    this.#lifeMs = lifeMs;
    this.#shared = shared;
  }

  get byteSize(): number {
    return this.#atMs.calculatedSize;
  }

  add(key: string): void {
    this.#atMs.set(key, this.#clock.now());
    this.#shared?.add(key, this.#clock.date() + this.#lifeMs);
  }

  delete(key: string): void {
    this.#atMs.delete(key);
    this.#shared?.delete(key);
  }

  has(key: string): Eventually<boolean> {
    return this.hasHere(key) || (this.#shared?.has(key) ?? false);
  }

  /** Without asking the store. */
  hasHere(key: string): boolean {
    return this.#ageMs(key) < this.#lifeMs;
  }

  isNew(key: string): boolean {
    return this.#ageMs(key) < JUST_MS;
  }

  #ageMs(key: string): number {
    return this.#clock.now() - (this.#atMs.get(key) ?? -Infinity);
  }
}
