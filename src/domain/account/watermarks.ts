import type { Account } from '../../lib/account.ts';
import { growingLru } from '../../lib/growing-lru.ts';

/** The hash of a token, or an account. */
type Key = string | Account;

interface Watermark {
  readonly logicalTime: number;
}

const MAX_KEYS = 100_000;
// Measured with token hashes and logins as keys.
const BYTES_OF_AN_ENTRY = 145;

/** Logical times by key. They outlive the keys' cached entries. An evicted key counts with the latest time ever evicted. */
export class Watermarks<Mark extends Watermark = Watermark> {
  readonly #byKey = growingLru<Key, Mark>({
    maxEntries: MAX_KEYS,
    entryBytes: BYTES_OF_AN_ENTRY,
    onEvict: ({ logicalTime }) => {
      this.#evictedTime = Math.max(this.#evictedTime, logicalTime);
    },
  });
  #evictedTime = Number.NEGATIVE_INFINITY;

  get byteSize(): number {
    return this.#byKey.calculatedSize;
  }

  get(key: Key): Mark | undefined {
    return this.#byKey.get(key);
  }

  timeOf(key: Key): number {
    return this.#byKey.get(key)?.logicalTime ?? this.#evictedTime;
  }

  set(key: Key, watermark: Mark): void {
    this.#byKey.set(key, watermark);
  }

  /** Sets all keys to a time, which must not be earlier than that of any key. */
  setAll(logicalTime: number): void {
    this.#byKey.clear();
    this.#evictedTime = logicalTime;
  }
}
