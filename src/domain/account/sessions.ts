import { LRUCache } from 'lru-cache';
import type { Account } from '../../../lib/account.ts';
import type { Clock, LogicalClock } from '../../../lib/clock.ts';
import { growingLru } from '../../../lib/growing-lru.ts';
import type { SessionAnswer } from '../../gateway/answers.ts';
import type { ReceiptSource } from '../../gateway/caller.ts';
import type { ProofLedger } from '../auth/proof.ts';
import { detached, polling, type Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { PositionsBoard } from '../positions/positions-board.ts';
import type { AccountFreshness } from './account-freshness.ts';
import {
  type AwaitedOrders,
  type Members,
  membersOf,
  NO_AWAITED_ORDERS,
  ordersLeft,
} from './relation.ts';
import { bytesOfSnapshot, withoutRows } from './snapshot-size.ts';

export interface SessionsOptions {
  readonly gateway: ViewerGateway;
  readonly ledger: ProofLedger;
  /** The lists of positions that were served since a snapshot was asked for. */
  readonly board: Pick<PositionsBoard, 'contradicts'>;
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
  readonly maxAgeMs: number;
  readonly freshness: Pick<AccountFreshness, 'catchUp' | 'changedAt'>;
  readonly maxBytes: number;
  readonly onRead?: (source: ReceiptSource) => void;
}

export interface SessionDemand {
  /** The oldest acceptable age of a cached snapshot, below the server's own limit. */
  readonly maxAgeMs?: number;
  /** The snapshot must have been requested after this logical time. */
  readonly after?: number;
  /** Whether a snapshot that is cached without rows will do. Left out where the rows of its positions are not needed. */
  readonly hasRows?: ((cached: SessionAnswer) => boolean) | undefined;
}

interface InFlightRead {
  readonly logicalTime: number;
  readonly answer: Promise<SessionAnswer>;
}

interface CachedSnapshot {
  readonly answer: SessionAnswer;
  /** Null where it has no list of positions. */
  readonly members: Members | null;
  /** Orders of the snapshots before it that it lacks. */
  readonly left: AwaitedOrders;
  usedAtMs: number;
}

const ACCOUNTS = { maxEntries: 100_000, entryBytes: 110 };

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Account snapshots, each cached for the one token that fetched it: the gateway decides what two devices of an
 * account see. Only staleness is tracked per account. The rows of positions, which are most of a snapshot and
 * seldom read from it, are cached only where the read that brought them needed them.
 */
export function createSessions(options: SessionsOptions) {
  const { gateway, ledger, board, freshness, clock, logicalClock, onRead } = options;
  const cache = new LRUCache<string, CachedSnapshot>({
    maxSize: options.maxBytes,
    sizeCalculation: ({ answer }) => bytesOfSnapshot(answer),
    dispose: ({ answer }, _key, reason) => {
      if (reason === 'evict') forget(answer);
    },
  });
  const inFlightReads = new Map<string, InFlightRead>();
  const orderCounts = growingLru<string, number>(ACCOUNTS);
  /** The newest snapshot that was evicted, or not kept: a call from before may bring an older one. */
  let forgottenTime = 0;

  function read(
    viewer: Viewer,
    demand: SessionDemand = {},
  ): SessionAnswer | Promise<SessionAnswer> {
    const isInMemory = inFlightReads.has(viewer.tokenHash) || cachedFor(viewer);
    const caughtUp = isInMemory ? freshness.catchUp(viewer.account) : true;
    if (caughtUp === true) return readCaughtUp(viewer, demand);
    return caughtUp.then((isCertain) =>
      readCaughtUp(viewer, isCertain ? demand : { ...demand, after: logicalClock.next() }),
    );
  }

  function readCaughtUp(
    viewer: Viewer,
    demand: SessionDemand,
  ): SessionAnswer | Promise<SessionAnswer> {
    const startedAtMs = clock.now();
    const addReceipt = (source: ReceiptSource) => {
      const ms = clock.now() - startedAtMs;
      viewer.receipt?.({ operation: 'getSession', ms, source });
    };
    const held = cached(viewer, demand);
    const inFlight = held ? null : sharable(viewer, demand);
    onRead?.(held ? 'cache' : inFlight ? 'shared' : 'call');
    if (held) addReceipt('cache');
    const known = held ?? inFlight?.finally(() => addReceipt('shared'));
    return known ?? fetch(viewer, demand.hasRows !== undefined);
  }

  /** The cached snapshot, where it meets the demand and nothing has made it stale. */
  function cached(viewer: Viewer, demand: SessionDemand = {}): SessionAnswer | null {
    const cached = cachedFor(viewer);
    if (!cached) return null;
    const { answer, members } = cached;
    const nowMs = clock.now();
    const maxAgeMs = Math.min(demand.maxAgeMs ?? Infinity, options.maxAgeMs);
    const isServable =
      answer.logicalTime > earliestTime(viewer, demand) &&
      nowMs - answer.sentAtMs < maxAgeMs &&
      !(members !== null && board.contradicts(viewer, answer.logicalTime, members)) &&
      (demand.hasRows?.(answer) ?? true);
    if (!isServable) return null;
    cached.usedAtMs = nowMs;
    return answer;
  }

  /** A feed's snapshot, requested after this logical time; queries do not share its call, which is not retried. */
  async function poll(viewer: Viewer, after: number): Promise<SessionAnswer> {
    const demand = { after };
    const known = cached(viewer, demand) ?? sharable(viewer, demand);
    return known ?? call(polling(viewer), false);
  }

  function earliestTime(viewer: Viewer, { after = 0 }: SessionDemand): number {
    return Math.max(after, freshness.changedAt(viewer.account));
  }

  function sharable(viewer: Viewer, demand: SessionDemand): Promise<SessionAnswer> | null {
    const inFlight = inFlightReads.get(viewer.tokenHash);
    const isLateEnough = inFlight && inFlight.logicalTime > earliestTime(viewer, demand);
    return isLateEnough ? inFlight.answer : null;
  }

  async function call(viewer: Viewer, keepsRows: boolean): Promise<SessionAnswer> {
    const answer = await gateway.getSession(detached(viewer));
    const newest = cache.peek(viewer.tokenHash)?.answer.logicalTime ?? forgottenTime;
    // An answer from before a change is its own readers', and is not cached for later ones.
    if (answer.logicalTime > Math.max(newest, freshness.changedAt(viewer.account))) {
      keep(viewer.tokenHash, keepsRows ? answer : withoutRows(answer));
      // The gateway has just answered this very token for this account.
      orderCounts.set(viewer.account, answer.session.orders?.length ?? 0);
    }
    return answer;
  }

  /**
   * A snapshot is not kept where all in memory have been read within their age: by least recent use alone a few
   * users more than there is room for, who come in turn, would leave nobody a snapshot.
   */
  function keep(key: string, answer: SessionAnswer): void {
    const { maxAgeMs } = options;
    const { positions } = answer.session;
    const { left = NO_AWAITED_ORDERS, answer: before } = cache.peek(key) ?? {};
    const usedAtMs = clock.now();
    const entry = {
      answer,
      usedAtMs,
      members: positions && membersOf(positions),
      left: ordersLeft(left, before?.session.orders ?? [], answer, maxAgeMs),
    };
    const isFull = cache.calculatedSize + bytesOfSnapshot(answer) > cache.maxSize;
    const [eldest] = isFull && !cache.has(key) ? cache.rvalues() : [];
    if (!eldest || usedAtMs - eldest.usedAtMs >= maxAgeMs) cache.set(key, entry);
    if (!cache.has(key)) forget(answer);
  }

  function forget({ logicalTime }: SessionAnswer): void {
    forgottenTime = Math.max(forgottenTime, logicalTime);
  }

  function fetch(viewer: Viewer, keepsRows: boolean): Promise<SessionAnswer> {
    const key = viewer.tokenHash;
    const logicalTime = logicalClock.next();
    const answer = call(viewer, keepsRows).finally(() => {
      if (inFlightReads.get(key)?.answer === answer) inFlightReads.delete(key);
    });
    inFlightReads.set(key, { logicalTime, answer });
    return answer;
  }

  /** A token that the gateway has not accepted recently gets nothing cached, not even its own snapshot. */
  function cachedFor(viewer: Viewer): CachedSnapshot | undefined {
    return ledger.isAccepted(viewer) ? cache.get(viewer.tokenHash) : undefined;
  }

  return {
    read,
    cached,
    poll,
    /** The size of all cached snapshots, and of what is remembered of accounts beside them. */
    get byteSize(): number {
      return cache.calculatedSize + orderCounts.calculatedSize;
    },
    /** Whether a snapshot for this token is in flight, which a read now would most likely share. */
    isReading: ({ tokenHash }: Viewer): boolean => inFlightReads.has(tokenHash),
    /** The orders that this token's snapshots had lately and no longer have, and since when. */
    leftOrders: ({ tokenHash }: Viewer): AwaitedOrders =>
      cache.peek(tokenHash)?.left ?? NO_AWAITED_ORDERS,
    /** The number of orders in an account's newest snapshot; 0 where none is known. */
    orderCount: (account: Account): number => orderCounts.get(account) ?? 0,
  };
}
