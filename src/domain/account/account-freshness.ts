import type { Account } from '../../lib/account.ts';
import type { LogicalClock } from '../../lib/clock.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { Watermarks } from '../../lib/watermarks.ts';
import type { AccountVersions } from '../../store/shared-store.ts';
import type { AccountEvents } from './account-events.ts';

const ACCOUNTS = { maxEntries: 100_000, entryBytes: 220 };

export type AccountFreshness = ReturnType<typeof createAccountFreshness>;

/**
 * When each account was last changed by an order, or may have been, here or by another replica. A reader of
 * memory catches up first; a call that is sent now cannot be older. `versions` is null without other processes.
 */
export function createAccountFreshness(
  accounts: AccountEvents,
  logicalClock: LogicalClock,
  versions: AccountVersions | null,
) {
  const changedAt = new Watermarks();
  /** The last version seen of each account that has one. */
  const seen = growingLru<string, string>(ACCOUNTS);
  let lastEpoch: string | null = null;
  accounts.on('changed', (account) => changedAt.set(account, { at: logicalClock.next() }));

  async function isCaughtUp(shared: AccountVersions, account: Account): Promise<boolean> {
    const read = await shared.read(account).catch(() => null);
    if (read === null) return false;
    const { epoch, version } = read;
    if (epoch !== lastEpoch) {
      lastEpoch = epoch;
      seen.clear();
      changedAt.setAll(logicalClock.next());
    }
    // A version that is not known may be as old as what is in memory, or newer.
    if (version !== (seen.get(account) ?? null)) {
      if (version === null) seen.delete(account);
      else seen.set(account, version);
      accounts.emit('changed', account);
    }
    return true;
  }

  return {
    get byteSize(): number {
      return seen.calculatedSize + changedAt.byteSize;
    },
    /** The logical time of the account's last known change: what was asked for before is outdated. */
    changedAt: (account: Account): number => changedAt.at(account),
    /** False where nobody can tell: then nothing in memory is certainly as new as the account's orders. */
    catchUp: (account: Account): true | Promise<boolean> =>
      versions === null ? true : isCaughtUp(versions, account),
  };
}
