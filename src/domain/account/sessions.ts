import { LRUCache } from 'lru-cache';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import type { Order } from '../../gateway/operations/holdings.ts';
import { ACCOUNT } from '../../lib/account.ts';
import type { Clock, LogicalClock } from '../../lib/clock.ts';
import type { ProofLedger } from '../auth/proof.ts';
import { polling, type Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { AccountReads } from './account-reads.ts';
import type { NewestPositions } from './newest-positions.ts';

export interface SessionsOptions {
  readonly gateway: ViewerGateway;
  readonly ledger: ProofLedger;
  /** Knows the lists of positions that are newer than a snapshot. */
  readonly newestPositions: Pick<NewestPositions, 'contradicts'>;
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  readonly accountReads: AccountReads;
}

interface SessionDemand {
  /** The maximum age of a cached snapshot. The service's own limit applies as well. */
  readonly maxAgeMs?: number;
  readonly after?: number;
}

const OPERATION = 'getSession';

/**
 * Account snapshots, each cached only for the token that fetched it, because the gateway can show two devices of an account
 * different data. Only staleness is tracked per account. The rows of positions are most of a snapshot's size, and op 12 has
 * newer ones, so they are not cached.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #cache: LRUCache<string, SessionAnswer>;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#cache = new LRUCache({ maxSize: options.maxBytes, sizeCalculation: bytesOf });
  }

  read(viewer: Viewer, demand: SessionDemand = {}): SessionAnswer | Promise<SessionAnswer> {
    const { accountReads, logicalClock } = this.#options;
    // A snapshot in memory may be older than an order at another replica. If this is uncertain, the gateway is asked.
    const isInMemory = this.isReading(viewer) || this.#cachedFor(viewer) !== undefined;
    const caughtUp = isInMemory ? accountReads.catchUp(viewer[ACCOUNT]) : true;
    if (caughtUp === true) return this.#readCaughtUp(viewer, demand);
    return caughtUp.then((isCertain) =>
      this.#readCaughtUp(viewer, isCertain ? demand : { ...demand, after: logicalClock.next() }),
    );
  }

  /** The cached snapshot, if it meets the demand and is not stale. */
  cached(viewer: Viewer, demand: SessionDemand = {}): SessionAnswer | null {
    const { newestPositions, clock, accountReads } = this.#options;
    const answer = this.#cachedFor(viewer);
    if (!answer) return null;
    const { logicalTime, sentAtMs, session } = answer;
    const ids = session.positions?.ids ?? null;
    const maxAgeMs = Math.min(demand.maxAgeMs ?? Infinity, this.#options.maxAgeMs);
    const after = Math.max(demand.after ?? 0, accountReads.changedAt(viewer[ACCOUNT]));
    if (logicalTime <= after) return null;
    if (clock.now() - sentAtMs >= maxAgeMs) return null;
    const isContradicted = ids !== null && newestPositions.contradicts(viewer, logicalTime, ids);
    return isContradicted ? null : answer;
  }

  /** A feed's snapshot, requested after this logical time. Queries do not share the call, which is not retried. */
  async poll(viewer: Viewer, after: number): Promise<SessionAnswer> {
    return this.cached(viewer, { after }) ?? this.#call(polling(viewer));
  }

  /** Whether a call for this token's snapshot is under way. A read now usually shares it. */
  isReading(viewer: Viewer): boolean {
    return this.#options.accountReads.isReading(viewer, OPERATION);
  }

  get byteSize(): number {
    return this.#cache.calculatedSize;
  }

  #readCaughtUp(viewer: Viewer, demand: SessionDemand): SessionAnswer | Promise<SessionAnswer> {
    const cached = this.cached(viewer, demand);
    if (cached !== null) {
      viewer.receipt?.({ operation: OPERATION, ms: 0, source: 'cache' });
      return cached;
    }
    const send = (caller: Viewer) => this.#call(caller);
    return this.#options.accountReads.read(viewer, OPERATION, send, demand);
  }

  async #call(viewer: Viewer): Promise<SessionAnswer> {
    const { gateway, accountReads } = this.#options;
    const { tokenHash, [ACCOUNT]: account } = viewer;
    const answer = await gateway.getSession(viewer);
    const newest = this.#cache.peek(tokenHash)?.logicalTime ?? 0;
    // An answer from before a change is returned to its readers, but not cached.
    if (answer.logicalTime > Math.max(newest, accountReads.changedAt(account))) {
      this.#cache.set(tokenHash, withoutRows(answer));
    }
    return answer;
  }

  /** Undefined for a token that was not accepted recently, even for the snapshot that this token has fetched. */
  #cachedFor(viewer: Viewer): SessionAnswer | undefined {
    return this.#options.ledger.isAccepted(viewer) ? this.#cache.get(viewer.tokenHash) : undefined;
  }
}

// Measured on the heap; a test repeats the measurement.
const BYTES_OF_A_SNAPSHOT = 1_000;
const BYTES_OF_AN_ORDER = 445;

function withoutRows(answer: SessionAnswer): SessionAnswer {
  const { session } = answer;
  if (session.positions === null) return answer;
  return { ...answer, session: { ...session, positions: { ...session.positions, rows: null } } };
}

function bytesOf({ session: { orders } }: SessionAnswer): number {
  const textLength = ({ name, logo, comment }: Order) =>
    (name?.length ?? 0) + (logo?.length ?? 0) + (comment?.length ?? 0);
  return (orders ?? []).reduce(
    (sum, order) => sum + BYTES_OF_AN_ORDER + textLength(order),
    BYTES_OF_A_SNAPSHOT,
  );
}
