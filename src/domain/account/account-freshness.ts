import type { LogicalClock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import { Watermarks } from '../../../lib/watermarks.ts';
import type { AccountVersions } from '../../store/account-versions.ts';
import type { AccountEvents } from './account-events.ts';

const ACCOUNTS = { maxEntries: 100_000, entryBytes: 220 };

/**
 * When each account was last changed by an order, or may have been, here or by another replica. Whoever answers from memory
 * catches up first; a call of the gateway that is sent now needs nothing, because it cannot be older.
 */
export class AccountFreshness {
  readonly #accounts: AccountEvents;
  readonly #logicalClock: LogicalClock;
  readonly #versions: AccountVersions | null;
  readonly #changedAt = new Watermarks();
  /** The last version seen of each account that has one. */
  readonly #seen = growingLru<string, string>(ACCOUNTS);
  #epoch: string | null = null;

  /** `versions` is null where this process shares orders with no other. */
  constructor(
    accounts: AccountEvents,
    logicalClock: LogicalClock,
    versions: AccountVersions | null,
  ) {
    this.#accounts = accounts;
    this.#logicalClock = logicalClock;
    this.#versions = versions;
    accounts.on('changed', (account) => {
      this.#changedAt.set(account, { at: logicalClock.next() });
    });
  }

  get byteSize(): number {
    return this.#seen.calculatedSize + this.#changedAt.byteSize;
  }

  /** The logical time of the account's last known change: what was asked for before is outdated. */
  changedAt(account: string): number {
    return this.#changedAt.at(account);
  }

  /** False where nobody can tell: then nothing in memory is certainly as new as the account's orders. */
  catchUp(account: string): true | Promise<boolean> {
    return this.#versions === null ? true : this.#catchUp(this.#versions, account);
  }

  async #catchUp(versions: AccountVersions, account: string): Promise<boolean> {
    const read = await versions.read(account).catch(() => null);
    if (read === null) return false;
    const { epoch, version } = read;
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#seen.clear();
      this.#changedAt.setAll(this.#logicalClock.next());
    }
    // A version that is not known may be as old as what is in memory, or newer.
    if (version !== (this.#seen.get(account) ?? null)) {
      if (version === null) this.#seen.delete(account);
      else this.#seen.set(account, version);
      this.#accounts.emit('changed', account);
    }
    return true;
  }
}
