import type { Clock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Viewer } from '../auth/viewer.ts';

type Source = 'session' | 'positions';

interface Account {
  readonly lists: {
    [source in Source]?: { readonly isEmpty: boolean; readonly logicalTime: number };
  };
  /** The logical time of the later of the two when they began to differ; null while they agree. */
  since: number | null;
  readAtMs: number;
}

const ACCOUNTS = { maxEntries: 20_000, entryBytes: 400 };
const COUNTED_MS = 5 * 60_000;

export type ListAgreement = ReturnType<typeof createListAgreement>;

/**
 * Counts the accounts for which op 12 answers an empty list while op 10 lists positions, once the earlier of the two has
 * been read again: a position may have been opened or closed in between. The clock is monotonic.
 */
export function createListAgreement(clock: Clock) {
  const accounts = growingLru<string, Account>(ACCOUNTS);

  function saw(key: string, source: Source, isEmpty: boolean, logicalTime: number): void {
    const known = accounts.get(key);
    const account: Account = known ?? { lists: {}, since: null, readAtMs: 0 };
    if (!known) accounts.set(key, account);
    const { lists } = account;
    if (logicalTime < (lists[source]?.logicalTime ?? 0)) return;
    lists[source] = { isEmpty, logicalTime };
    account.readAtMs = clock.now();
    const { session, positions } = lists;
    if (session?.isEmpty !== false || positions?.isEmpty !== true) account.since = null;
    else account.since ??= Math.max(session.logicalTime, positions.logicalTime);
  }

  return {
    positionsAnswered({ account }: Viewer, { positions, logicalTime }: PositionsAnswer): void {
      saw(account, 'positions', positions.length === 0, logicalTime);
    },
    snapshotAnswered({ account }: Viewer, { session, logicalTime }: SessionAnswer): void {
      if (session.positions === null) return;
      saw(account, 'session', session.positions.ids.length === 0, logicalTime);
    },
    /** The accounts whose two lists were read lately. */
    counts(): Readonly<Record<'agree' | 'differ', number>> {
      const counts = { agree: 0, differ: 0 };
      const oldestMs = clock.now() - COUNTED_MS;
      for (const { lists, since, readAtMs } of accounts.values()) {
        const { session, positions } = lists;
        if (readAtMs < oldestMs || !session || !positions) continue;
        const earlier = Math.min(session.logicalTime, positions.logicalTime);
        counts[since !== null && earlier >= since ? 'differ' : 'agree'] += 1;
      }
      return counts;
    },
  };
}
