import type { Account } from '../../lib/account.ts';
import { growingLru } from '../../lib/caches.ts';
import type { LogicalClock } from '../../lib/clock.ts';
import type { AccountVersions } from '../../store/shared-store.ts';

const ACCOUNTS = { maxEntries: 100_000, entryBytes: 220 };

/**
 * The logical time of each account's last change by an order, at this or another replica. A read from memory first catches
 * up with the other replicas. A new call needs no catch-up: its answer is newer than any earlier order.
 */
export class AccountFreshness {
  readonly #logicalClock: LogicalClock;
  readonly #versions: AccountVersions | null;
  readonly #changes = new Watermarks();
  /** The last version seen of each account that has one. */
  readonly #seen = growingLru<Account, string>(ACCOUNTS);
  #lastEpoch: string | null = null;

  readonly #onChanged: (account: Account) => void;

  /** `versions` is null if no other process serves the accounts. `onChanged` is called after each change. */
  constructor(
    clock: LogicalClock,
    versions: AccountVersions | null,
    onChanged: (account: Account) => void = () => {},
  ) {
    this.#logicalClock = clock;
    this.#versions = versions;
    this.#onChanged = onChanged;
  }

  get byteSize(): number {
    return this.#seen.calculatedSize + this.#changes.byteSize;
  }

  /** An order has changed the account, or may have changed it. Answers to earlier calls are outdated. */
  changed(account: Account): void {
    this.#changes.set(account, { logicalTime: this.#logicalClock.next() });
    this.#onChanged(account);
  }

  /** The logical time of the account's last known change. An answer to an earlier call is outdated. */
  changedAt(account: Account): number {
    return this.#changes.timeOf(account);
  }

  /** Returns false while the store is unreachable. Then an answer in memory may be from before the account's last order. */
  catchUp(account: Account): true | Promise<boolean> {
    return this.#versions === null ? true : this.#readVersion(this.#versions, account);
  }

  async #readVersion(versions: AccountVersions, account: Account): Promise<boolean> {
    const read = await versions.read(account).catch(() => null);
    if (read === null) return false;
    const { epoch, version } = read;
    // In another epoch the store may have lost versions, so every account counts as changed.
    if (epoch !== this.#lastEpoch) {
      this.#lastEpoch = epoch;
      this.#seen.clear();
      this.#changes.setAll(this.#logicalClock.next());
    }
    // An unknown version may be newer than the answers in memory.
    if (version !== (this.#seen.get(account) ?? null)) {
      if (version === null) this.#seen.delete(account);
      else this.#seen.set(account, version);
      this.changed(account);
    }
    return true;
  }
}

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
