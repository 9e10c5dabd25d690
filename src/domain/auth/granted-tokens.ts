import type { Clock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { tokenHash } from '../../lib/token-hash.ts';

const JUST_MS = 60_000;
const MOST_REMEMBERED = 10_000;

/** The tokens that `login` has just returned: nobody can have forged them. */
export class GrantedTokens {
  /** A monotonic clock. */
  readonly #clock: Clock;
  readonly #grantedAtMs = growingLru<string, number>({
    maxEntries: MOST_REMEMBERED,
    entryBytes: 200,
  });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get byteSize(): number {
    return this.#grantedAtMs.calculatedSize;
  }

  add(token: string): void {
    this.#grantedAtMs.set(tokenHash(token), this.#clock.now());
  }

  has(hash: string): boolean {
    const grantedAtMs = this.#grantedAtMs.get(hash);
    return grantedAtMs !== undefined && this.#clock.now() - grantedAtMs < JUST_MS;
  }
}
