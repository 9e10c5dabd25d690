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

/**
 * Account snapshots, each cached for the one token that fetched it: the gateway decides what two devices of an
 * account see. Only staleness is tracked per account. The rows of positions, which are most of a snapshot and
 * seldom read from it, are cached only where the read that brought them needed them.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #cache: LRUCache<string, CachedSnapshot>;
  readonly #inFlight = new Map<string, InFlightRead>();
  readonly #orderCounts = growingLru<string, number>(ACCOUNTS);
  /** The newest snapshot that was evicted, or not kept: a call from before may bring an older one. */
  #forgottenTime = 0;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#cache = new LRUCache({
      maxSize: options.maxBytes,
      sizeCalculation: ({ answer }) => bytesOfSnapshot(answer),
      dispose: ({ answer }, _key, reason) => {
        if (reason === 'evict') this.#forget(answer);
      },
    });
  }

  read(viewer: Viewer, demand: SessionDemand = {}): SessionAnswer | Promise<SessionAnswer> {
    const isInMemory = this.#inFlight.has(viewer.tokenHash) || this.#cachedFor(viewer);
    const caughtUp = isInMemory ? this.#options.freshness.catchUp(viewer.account) : true;
    if (caughtUp === true) return this.#read(viewer, demand);
    return caughtUp.then((isCertain) => {
      if (isCertain) return this.#read(viewer, demand);
      return this.#read(viewer, { ...demand, after: this.#options.logicalClock.next() });
    });
  }

  #read(viewer: Viewer, demand: SessionDemand): SessionAnswer | Promise<SessionAnswer> {
    const { clock, onRead } = this.#options;
    const startedAtMs = clock.now();
    const addReceipt = (source: ReceiptSource) => {
      const ms = clock.now() - startedAtMs;
      viewer.receipt?.({ operation: 'getSession', ms, source });
    };
    const cached = this.cached(viewer, demand);
    const inFlight = cached ? null : this.#sharable(viewer, demand);
    onRead?.(cached ? 'cache' : inFlight ? 'shared' : 'call');
    if (cached) addReceipt('cache');
    const known = cached ?? inFlight?.finally(() => addReceipt('shared'));
    return known ?? this.#fetch(viewer, demand.hasRows !== undefined);
  }

  /** The cached snapshot, where it meets the demand and nothing has made it stale. */
  cached(viewer: Viewer, demand: SessionDemand = {}): SessionAnswer | null {
    const cached = this.#cachedFor(viewer);
    if (!cached) return null;
    const { answer, members } = cached;
    const { board, clock } = this.#options;
    const nowMs = clock.now();
    const maxAgeMs = Math.min(demand.maxAgeMs ?? Infinity, this.#options.maxAgeMs);
    const isServable =
      answer.logicalTime > this.#earliestTime(viewer, demand) &&
      nowMs - answer.sentAtMs < maxAgeMs &&
      !(members !== null && board.contradicts(viewer, answer.logicalTime, members)) &&
      (demand.hasRows?.(answer) ?? true);
    if (!isServable) return null;
    cached.usedAtMs = nowMs;
    return answer;
  }

  /** A feed's snapshot, requested after this logical time; queries do not share its call, which is not retried. */
  async poll(viewer: Viewer, after: number): Promise<SessionAnswer> {
    const demand = { after };
    const known = this.cached(viewer, demand) ?? this.#sharable(viewer, demand);
    return known ?? this.#call(polling(viewer), false);
  }

  /** The size of all cached snapshots, and of what is remembered of accounts beside them. */
  get byteSize(): number {
    return this.#cache.calculatedSize + this.#orderCounts.calculatedSize;
  }

  /** Whether a snapshot for this token is in flight, which a read now would most likely share. */
  isReading({ tokenHash }: Viewer): boolean {
    return this.#inFlight.has(tokenHash);
  }

  /** The orders that this token's snapshots had lately and no longer have, and since when. */
  leftOrders({ tokenHash }: Viewer): AwaitedOrders {
    return this.#cache.peek(tokenHash)?.left ?? NO_AWAITED_ORDERS;
  }

  /** The number of orders in an account's newest snapshot; 0 where none is known. */
  orderCount(account: Account): number {
    return this.#orderCounts.get(account) ?? 0;
  }

  /** No snapshot of the group that was asked for until now is served any more. */
  forgetGroup(group: string): void {
    for (const [key, { answer }] of [...this.#cache]) {
      if (answer.session.group === group) this.#cache.delete(key);
    }
    this.#forgottenTime = this.#options.logicalClock.next();
  }

  #earliestTime(viewer: Viewer, { after = 0 }: SessionDemand): number {
    return Math.max(after, this.#options.freshness.changedAt(viewer.account));
  }

  #sharable(viewer: Viewer, demand: SessionDemand): Promise<SessionAnswer> | null {
    const inFlight = this.#inFlight.get(viewer.tokenHash);
    const isLateEnough = inFlight && inFlight.logicalTime > this.#earliestTime(viewer, demand);
    return isLateEnough ? inFlight.answer : null;
  }

  async #call(viewer: Viewer, keepsRows: boolean): Promise<SessionAnswer> {
    const { gateway, freshness } = this.#options;
    const answer = await gateway.getSession(detached(viewer));
    const newest = this.#cache.peek(viewer.tokenHash)?.answer.logicalTime ?? this.#forgottenTime;
    // An answer from before a change is its own readers', and is not cached for later ones.
    if (answer.logicalTime > Math.max(newest, freshness.changedAt(viewer.account))) {
      this.#keep(viewer.tokenHash, keepsRows ? answer : withoutRows(answer));
      // The gateway has just answered this very token for this account.
      this.#orderCounts.set(viewer.account, answer.session.orders?.length ?? 0);
    }
    return answer;
  }

  /**
   * A snapshot is not kept where all in memory have been read within their age: by least recent use alone a few
   * users more than there is room for, who come in turn, would leave nobody a snapshot.
   */
  #keep(key: string, answer: SessionAnswer): void {
    const { clock, maxAgeMs } = this.#options;
    const { positions } = answer.session;
    const { left = NO_AWAITED_ORDERS, answer: before } = this.#cache.peek(key) ?? {};
    const usedAtMs = clock.now();
    const entry = {
      answer,
      usedAtMs,
      members: positions && membersOf(positions),
      left: ordersLeft(left, before?.session.orders ?? [], answer, maxAgeMs),
    };
    const isFull = this.#cache.calculatedSize + bytesOfSnapshot(answer) > this.#cache.maxSize;
    const [eldest] = isFull && !this.#cache.has(key) ? this.#cache.rvalues() : [];
    if (!eldest || usedAtMs - eldest.usedAtMs >= maxAgeMs) this.#cache.set(key, entry);
    if (!this.#cache.has(key)) this.#forget(answer);
  }

  #forget({ logicalTime }: SessionAnswer): void {
    this.#forgottenTime = Math.max(this.#forgottenTime, logicalTime);
  }

  #fetch(viewer: Viewer, keepsRows: boolean): Promise<SessionAnswer> {
    const key = viewer.tokenHash;
    const logicalTime = this.#options.logicalClock.next();
    const answer = this.#call(viewer, keepsRows).finally(() => {
      if (this.#inFlight.get(key)?.answer === answer) this.#inFlight.delete(key);
    });
    this.#inFlight.set(key, { logicalTime, answer });
    return answer;
  }

  /** A token that the gateway has not accepted recently gets nothing cached, not even its own snapshot. */
  #cachedFor(viewer: Viewer): CachedSnapshot | undefined {
    return this.#options.ledger.isAccepted(viewer) ? this.#cache.get(viewer.tokenHash) : undefined;
  }
}
