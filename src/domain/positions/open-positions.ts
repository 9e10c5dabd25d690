import { chain, type MaybePromise } from '../../../lib/maybe-promise.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Position } from '../../gateway/model.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { JoinedReads } from '../account/joined-reads.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { FeedOptions } from './feed-options.ts';
import type { PositionsHub } from './hub.ts';
import { newer } from './positions-board.ts';

interface OpenPositionsOptions extends Pick<FeedOptions, 'gateway' | 'board' | 'clock'> {
  readonly hub: Pick<PositionsHub, 'current' | 'shown' | 'served'>;
  readonly freshness: Pick<AccountFreshness, 'catchUp'>;
  readonly joinedReads: JoinedReads;
}

// Each but the last was answered after a newer list that is forgotten already.
const MAX_TRIES = 3;

export type OpenPositions = ReturnType<typeof createOpenPositions>;

/** The open positions for one answer: one call of op 12, or none where a feed has just made it. */
export function createOpenPositions(options: OpenPositionsOptions) {
  const { gateway, board, clock, hub, freshness, joinedReads } = options;

  function join(viewer: Viewer, after: number): MaybePromise<PositionsAnswer> {
    const operation = 'getOpenPositions';
    const read = () => joinedReads.read(viewer, operation, fetch, { after });
    if (!joinedReads.isReading(viewer, operation)) return read();
    // A call from before an order that another replica has placed is not joined.
    return chain(freshness.catchUp(viewer.account), (isCertain) => {
      if (!isCertain) joinedReads.written(viewer.account);
      return read();
    });
  }

  function fetch(viewer: Viewer, tries = 1): Promise<PositionsAnswer> {
    return gateway.getOpenPositions(viewer, newestOf(viewer)).then((answer) => {
      const list = board.offer(viewer, newer(newestOf(viewer), answer));
      if (list !== null) {
        hub.served(viewer, list);
        return list;
      }
      if (tries < MAX_TRIES) return fetch(viewer, tries + 1);
      const message = 'newer lists came and went meanwhile';
      throw new GatewayError('unavailable', 'getOpenPositions', message);
    });
  }

  /** A running feed has its list even where the board has forgotten it. */
  function newestOf(viewer: Viewer): PositionsAnswer | null {
    return newer(board.newest(viewer), hub.shown(viewer)?.list ?? null);
  }

  /** The newest list that was served or polled for the viewer's account, where it is newer than this snapshot. */
  function newerThan(viewer: Viewer, { logicalTime }: SessionAnswer): PositionsAnswer | null {
    const list = newestOf(viewer);
    return list !== null && list.logicalTime > logicalTime ? list : null;
  }

  function running(viewer: Viewer): MaybePromise<PositionsAnswer | null> {
    if (hub.current(viewer) === null) return null;
    const startedAtMs = clock.now();
    return chain(freshness.catchUp(viewer.account), (isCertain) => {
      // The list is looked up again, because a change makes it outdated.
      const list = isCertain ? hub.current(viewer) : null;
      const ms = clock.now() - startedAtMs;
      if (list !== null) viewer.receipt?.({ operation: 'getOpenPositions', ms, source: 'shared' });
      return list;
    });
  }

  return {
    /** `after`: the logical time of the request's last write, or 0: a running feed's list may be older than that write. */
    read: (viewer: Viewer, { after }: { readonly after: number }): MaybePromise<PositionsAnswer> =>
      chain(after === 0 ? running(viewer) : null, (list) => list ?? join(viewer, after)),
    /** A snapshot's positions, or a newer list that was served; null where it has none, undefined where memory has none to serve. */
    newest(viewer: Viewer, answer: SessionAnswer): readonly Position[] | null | undefined {
      const { positions } = answer.session;
      if (positions === null) return null;
      const served = newerThan(viewer, answer);
      if (served !== null) return served.positions;
      const isForgotten = board.hasNewer(viewer, answer.logicalTime);
      return isForgotten ? undefined : (positions.rows ?? undefined);
    },
    newerThan,
  };
}
