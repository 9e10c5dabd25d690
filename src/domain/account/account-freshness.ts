import { growingLru } from '../../../lib/growing-lru.ts';
import type { AccountVersions } from '../../store/account-versions.ts';

export interface AccountFreshnessOptions {
  /** Null where this process shares orders with no other. */
  readonly versions: AccountVersions | null;
  /** Called when an order has changed the account, or may have: what was read before is outdated. */
  readonly onChanged: (account: string) => void;
  /** Called when the same may be true of any account. */
  readonly onAnyChanged: () => void;
}

const ACCOUNTS = { maxEntries: 100_000, entryBytes: 220 };

/**
 * Orders of other replicas that have changed an account, or may have. Whoever answers from memory catches
 * up first; a call of the gateway that is sent now needs nothing, because it cannot be older.
 */
export class AccountFreshness {
  readonly #options: AccountFreshnessOptions;
  /** The last version seen of each account that has one. */
  readonly #seen = growingLru<string, string>(ACCOUNTS);
  #epoch: string | null = null;

  constructor(options: AccountFreshnessOptions) {
    this.#options = options;
  }

  get byteSize(): number {
    return this.#seen.calculatedSize;
  }

  /** False where nobody can tell: then nothing in memory is certainly as new as the account's orders. */
  catchUp(account: string): true | Promise<boolean> {
    const { versions } = this.#options;
    return versions === null ? true : this.#catchUp(versions, account);
  }

  async #catchUp(versions: AccountVersions, account: string): Promise<boolean> {
    const { onChanged, onAnyChanged } = this.#options;
    const read = await versions.read(account).catch(() => null);
    if (read === null) return false;
    const { epoch, version } = read;
    if (epoch !== this.#epoch) {
      this.#epoch = epoch;
      this.#seen.clear();
      onAnyChanged();
    }
    // A version that is not known may be as old as what is in memory, or newer.
    if (version !== (this.#seen.get(account) ?? null)) {
      if (version === null) this.#seen.delete(account);
      else this.#seen.set(account, version);
      onChanged(account);
    }
    return true;
  }
}
