import { growingLru } from '../../lib/growing-lru.ts';

/** A logical time. */
interface Watermark {
  readonly at: number;
}

const MAX_KEYS = 100_000;
// Measured with token hashes and logins as keys.
const BYTES_OF_AN_ENTRY = 145;

/** A watermark outlives its cached entry. An evicted key counts with the highest watermark that was evicted. */
export class Watermarks<Of extends Watermark = Watermark> {
  readonly #byKey = growingLru<string, Of>({
    maxEntries: MAX_KEYS,
    entryBytes: BYTES_OF_AN_ENTRY,
    onEvict: ({ at }) => {
      this.#forgottenAt = Math.max(this.#forgottenAt, at);
    },
  });
  #forgottenAt = Number.NEGATIVE_INFINITY;

  get byteSize(): number {
    return this.#byKey.calculatedSize;
  }

  get(key: string): Of | undefined {
    return this.#byKey.get(key);
  }

  at(key: string): number {
    return this.#byKey.get(key)?.at ?? this.#forgottenAt;
  }

  set(key: string, watermark: Of): void {
    this.#byKey.set(key, watermark);
  }

  /** Sets all keys. `at` must not be lower than the watermark of any key. */
  setAll(at: number): void {
    this.#byKey.clear();
    this.#forgottenAt = at;
  }
}
