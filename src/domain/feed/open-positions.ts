import { GatewayError } from '../../gateway/gateway-error.ts';
import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import type { Position } from '../../gateway/operations/holdings.ts';
import type { Clock } from '../../lib/clock.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { JoinedReads } from '../account/joined-reads.ts';
import { type NewestPositions, newer } from '../account/newest-positions.ts';
import type { AccountProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { Feeds } from './position-feeds.ts';

interface OpenPositionsOptions {
  readonly ledger: Pick<ProofLedger, 'account'>;
  readonly gateway: Pick<ViewerGateway, 'getOpenPositions'>;
  readonly newestPositions: NewestPositions;
  readonly clock: Clock;
  readonly feeds: Pick<Feeds, 'current' | 'shown' | 'served'>;
  readonly freshness: Pick<AccountFreshness, 'catchUp' | 'changedAt'>;
  readonly joinedReads: JoinedReads;
}

const OPERATION = 'getOpenPositions';
const EVICTED = 'the answer is older than a list that was served and evicted';

/** Reads the open positions for one answer: by one call of op 12, or without a call if a feed's list is recent enough. */
export class OpenPositions {
  readonly #options: OpenPositionsOptions;

  constructor(options: OpenPositionsOptions) {
    this.#options = options;
  }

  /** `after`: the logical time of the request's last write, or 0. A running feed's list may be older than that write. */
  async read(viewer: Viewer, { after }: { readonly after: number }): Promise<PositionsAnswer> {
    const live = after === 0 ? await this.#liveList(viewer) : null;
    return live ?? this.#joinedList(viewer, after);
  }

  /** A snapshot's positions, or a newer served list. Null if the snapshot has none; undefined if no list is in memory. */
  newest(viewer: Viewer, answer: SessionAnswer): readonly Position[] | null | undefined {
    const { ledger, newestPositions } = this.#options;
    const { logicalTime, session } = answer;
    if (session.positions === null) return null;
    const proof = ledger.account(viewer);
    const list = this.#newestOf(viewer, proof);
    if (list !== null && list.logicalTime > logicalTime) return list.positions;
    const isForgotten = newestPositions.hasNewer(viewer, logicalTime, proof);
    return isForgotten ? undefined : (session.positions.rows ?? undefined);
  }

  async #liveList(viewer: Viewer): Promise<PositionsAnswer | null> {
    const { feeds, freshness, clock } = this.#options;
    if (feeds.current(viewer) === null) return null;
    const startedAtMs = clock.now();
    // The list is looked up again, because an order at another replica makes the first one outdated.
    const list = (await freshness.catchUp(viewer.account)) ? feeds.current(viewer) : null;
    const ms = clock.now() - startedAtMs;
    if (list !== null) viewer.receipt?.({ operation: OPERATION, ms, source: 'shared' });
    return list;
  }

  async #joinedList(viewer: Viewer, after: number): Promise<PositionsAnswer> {
    const { freshness, joinedReads } = this.#options;
    // A call from before an order at another replica is not joined.
    const isJoining = joinedReads.isReading(viewer, OPERATION);
    if (isJoining && !(await freshness.catchUp(viewer.account))) {
      joinedReads.written(viewer.account);
    }
    const demand = { after: Math.max(after, freshness.changedAt(viewer.account)) };
    return joinedReads.read(viewer, OPERATION, (caller) => this.#fetch(caller), demand);
  }

  async #fetch(viewer: Viewer): Promise<PositionsAnswer> {
    const { gateway, ledger, newestPositions, feeds } = this.#options;
    const previous = this.#newestOf(viewer, ledger.account(viewer));
    const answer = await gateway.getOpenPositions(viewer, previous);
    // Asked again, because this call may have proved the token, and another may have ended its proof.
    const proof = ledger.account(viewer);
    const list = newestPositions.offer(viewer, newer(this.#shown(viewer, proof), answer), proof);
    if (list === null) throw new GatewayError('unavailable', OPERATION, EVICTED);
    feeds.served(viewer, list, proof);
    return list;
  }

  /** A running feed keeps its list even if its newest list was evicted. */
  #newestOf(viewer: Viewer, proof: AccountProof | null): PositionsAnswer | null {
    const { newestPositions } = this.#options;
    return newer(newestPositions.newest(viewer, proof), this.#shown(viewer, proof));
  }

  #shown(viewer: Viewer, proof: AccountProof | null): PositionsAnswer | null {
    return this.#options.feeds.shown(viewer, proof)?.list ?? null;
  }
}
