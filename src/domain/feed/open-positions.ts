import { GatewayError } from '../../gateway/gateway-error.ts';
import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import type { Position } from '../../gateway/operations/holdings.ts';
import type { Clock } from '../../lib/clock.ts';
import { chain, type MaybePromise } from '../../lib/maybe-promise.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { JoinedReads } from '../account/joined-reads.ts';
import { type NewestPositions, newer } from '../account/newest-positions.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { Feeds } from './position-feeds.ts';

interface OpenPositionsOptions {
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
  read(viewer: Viewer, { after }: { readonly after: number }): MaybePromise<PositionsAnswer> {
    const live = after === 0 ? this.#liveList(viewer) : null;
    return chain(live, (list) => list ?? this.#joinedList(viewer, after));
  }

  /** A snapshot's positions, or a newer served list. Null if the snapshot has none; undefined if no list is in memory. */
  newest(viewer: Viewer, answer: SessionAnswer): readonly Position[] | null | undefined {
    const { logicalTime, session } = answer;
    if (session.positions === null) return null;
    const list = this.#newestOf(viewer);
    if (list !== null && list.logicalTime > logicalTime) return list.positions;
    const isForgotten = this.#options.newestPositions.hasNewer(viewer, logicalTime);
    return isForgotten ? undefined : (session.positions.rows ?? undefined);
  }

  #liveList(viewer: Viewer): MaybePromise<PositionsAnswer | null> {
    const { feeds, freshness, clock } = this.#options;
    if (feeds.current(viewer) === null) return null;
    const startedAtMs = clock.now();
    return chain(freshness.catchUp(viewer.account), (isCertain) => {
      // The list is looked up again, because an order at another replica makes the first one outdated.
      const list = isCertain ? feeds.current(viewer) : null;
      const ms = clock.now() - startedAtMs;
      if (list !== null) viewer.receipt?.({ operation: OPERATION, ms, source: 'shared' });
      return list;
    });
  }

  #joinedList(viewer: Viewer, after: number): MaybePromise<PositionsAnswer> {
    const { freshness, joinedReads } = this.#options;
    const read = () => {
      const changedAt = freshness.changedAt(viewer.account);
      const demand = { after: Math.max(after, changedAt) };
      return joinedReads.read(viewer, OPERATION, (caller) => this.#fetch(caller), demand);
    };
    if (!joinedReads.isReading(viewer, OPERATION)) return read();
    // A call from before an order at another replica is not joined.
    return chain(freshness.catchUp(viewer.account), (isCertain) => {
      if (!isCertain) joinedReads.written(viewer.account);
      return read();
    });
  }

  #fetch(viewer: Viewer): Promise<PositionsAnswer> {
    const { gateway, newestPositions, feeds } = this.#options;
    return gateway.getOpenPositions(viewer, this.#newestOf(viewer)).then((answer) => {
      const list = newestPositions.offer(viewer, newer(this.#shown(viewer), answer));
      if (list === null) throw new GatewayError('unavailable', OPERATION, EVICTED);
      feeds.served(viewer, list);
      return list;
    });
  }

  /** A running feed keeps its list even if its newest list was evicted. */
  #newestOf(viewer: Viewer): PositionsAnswer | null {
    return newer(this.#options.newestPositions.newest(viewer), this.#shown(viewer));
  }

  #shown(viewer: Viewer): PositionsAnswer | null {
    return this.#options.feeds.shown(viewer)?.list ?? null;
  }
}
