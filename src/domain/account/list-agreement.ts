import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Viewer } from '../auth/viewer.ts';

type Source = 'session' | 'positions';

interface Account {
  readonly lists: {
    [source in Source]?: { readonly count: number; readonly logicalTime: number };
  };
  /** The logical time of the later of the two when they began to differ; null while they agree. */
  since: number | null;
  readAtMs: number;
  part: Part | null;
}

/** Positions that op 10 lists and op 12 lacks, while it lists none beside those of op 10. */
interface Part {
  /** Some of those that were lacking in each read. */
  readonly missing: readonly string[];
  readonly sinceMs: number;
  readonly reads: number;
  readonly isShort: boolean;
}

const ACCOUNTS = { maxEntries: 20_000, entryBytes: 480 };
const COUNTED_MS = 5 * 60_000;
/** A list that lacks the same positions in so many reads, over so long, is told in part: in a page, for one. */
const SHORT_READS = 3;
const SHORT_MS = 10 * 60_000;
const MAX_MISSING = 5;
/** The ids of snapshots that wait for the next list, which is seldom: only where they were more than the last had. */
const HELD = {
  maxSize: 4 * 1024 ** 2,
  sizeCalculation: (ids: readonly string[]) => 200 + 64 * ids.length,
};

export type ListAgreement = ReturnType<typeof createListAgreement>;

/**
 * Counts the accounts for which op 12 answers an empty list while op 10 lists positions, once the earlier of the two has
 * been read again: a position may have been opened or closed in between; and those for which it lists a part for good. The clock is
 * monotonic. `onShort` is called with each account's list that turns out to be a part.
 */
export function createListAgreement(
  clock: Clock,
  onShort: (positions: number, ofSession: number) => void = () => {},
) {
  const accounts = growingLru<string, Account>(ACCOUNTS);
  const held = new LRUCache<string, readonly string[]>(HELD);

  function saw(key: string, source: Source, count: number, logicalTime: number): Account | null {
    const known = accounts.get(key);
    const account: Account = known ?? { lists: {}, since: null, readAtMs: 0, part: null };
    if (!known) accounts.set(key, account);
    const { lists } = account;
    if (logicalTime < (lists[source]?.logicalTime ?? 0)) return null;
    lists[source] = { count, logicalTime };
    account.readAtMs = clock.now();
    const { session, positions } = lists;
    if (!session?.count || positions?.count !== 0) account.since = null;
    else account.since ??= Math.max(session.logicalTime, positions.logicalTime);
    return account;
  }

  /** A position may be closed between the two: only the same ones, in one snapshot after the other, are lacking for good. */
  function partOf(
    former: Part | null,
    ids: readonly string[],
    listed: ReadonlySet<string>,
  ): Part | null {
    const lacking = ids.filter((id) => !listed.has(id));
    if (lacking.length === 0 || listed.size + lacking.length !== ids.length) return null;
    const still = former?.missing.filter((id) => !listed.has(id) && ids.includes(id)) ?? [];
    const nowMs = clock.now();
    if (former === null || still.length === 0) {
      return { missing: lacking.slice(0, MAX_MISSING), sinceMs: nowMs, reads: 1, isShort: false };
    }
    const reads = former.reads + 1;
    const isShort = reads >= SHORT_READS && nowMs - former.sinceMs >= SHORT_MS;
    return { missing: still, sinceMs: former.sinceMs, reads, isShort };
  }

  return {
    positionsAnswered({ account: key }: Viewer, { positions, logicalTime }: PositionsAnswer): void {
      const account = saw(key, 'positions', positions.length, logicalTime);
      const ids = held.size === 0 ? undefined : held.get(key);
      if (account === null || ids === undefined) return;
      held.delete(key);
      const former = account.part;
      account.part = partOf(former, ids, new Set(positions.map(({ id }) => id)));
      if (account.part?.isShort && !former?.isShort) onShort(positions.length, ids.length);
    },
    snapshotAnswered({ account: key }: Viewer, { session, logicalTime }: SessionAnswer): void {
      if (session.positions === null) return;
      const { ids } = session.positions;
      const account = saw(key, 'session', ids.length, logicalTime);
      if (account === null) return;
      if (ids.length > (account.lists.positions?.count ?? Number.POSITIVE_INFINITY))
        held.set(key, ids);
      else account.part = null;
    },
    /** The accounts whose two lists were read lately; one whose list has fewer positions is none that agrees. */
    counts(): Readonly<Record<'agree' | 'differ' | 'short', number>> {
      const counts = { agree: 0, differ: 0, short: 0 };
      const oldestMs = clock.now() - COUNTED_MS;
      for (const { lists, since, readAtMs, part } of accounts.values()) {
        const { session, positions } = lists;
        if (readAtMs < oldestMs || !session || !positions) continue;
        const earlier = Math.min(session.logicalTime, positions.logicalTime);
        if (since !== null && earlier >= since) counts.differ += 1;
        else if (part?.isShort) counts.short += 1;
        else if (positions.count === 0 || positions.count >= session.count) counts.agree += 1;
      }
      return counts;
    },
  };
}
