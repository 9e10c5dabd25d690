import type { Clock } from '../../../lib/clock.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Position } from '../../gateway/model.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { PositionsHub } from './hub.ts';
import { newer, type PositionsBoard } from './positions-board.ts';

export interface OpenPositionsOptions {
  readonly gateway: Pick<ViewerGateway, 'getOpenPositions'>;
  readonly board: PositionsBoard;
  readonly clock: Clock;
  readonly hub: Pick<PositionsHub, 'current' | 'shown' | 'served'>;
  readonly freshness: Pick<AccountFreshness, 'catchUp'>;
}

// Each but the last was answered after a newer list that is forgotten already.
const MOST_TRIES = 3;

/** The open positions for one answer: one call of op 12, or none where a feed has just made it. */
export class OpenPositions {
  readonly #options: OpenPositionsOptions;

  constructor(options: OpenPositionsOptions) {
    this.#options = options;
  }

  /** `live`: whether a running feed's list is acceptable; after a write it may be outdated. */
  async read(viewer: Viewer, { live }: { readonly live: boolean }): Promise<PositionsAnswer> {
    const { gateway, board, clock, hub } = this.#options;
    const startedAtMs = clock.now();
    const running = live ? await this.#running(viewer) : null;
    if (running) {
      const ms = clock.now() - startedAtMs;
      viewer.receipt?.({ operation: 'getOpenPositions', ms, source: 'shared' });
      return running;
    }
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const answer = await gateway.getOpenPositions(viewer, this.#newest(viewer));
      const list = board.offer(viewer, newer(this.#newest(viewer), answer));
      if (list === null) continue;
      hub.served(viewer, list);
      return list;
    }
    const message = 'newer lists came and went meanwhile';
    throw new GatewayError('unavailable', 'getOpenPositions', message);
  }

  /**
   * A snapshot's positions, unless the account was already served a newer list; null where it has no list.
   * Undefined where no list that may be served is in memory.
   */
  newest(viewer: Viewer, answer: SessionAnswer): readonly Position[] | null | undefined {
    const { positions } = answer.session;
    if (positions === null) return null;
    const newer = this.newerThan(viewer, answer);
    if (newer !== null) return newer.positions;
    const isForgotten = this.#options.board.hasNewer(viewer, answer.logicalTime);
    return isForgotten ? undefined : (positions.rows ?? undefined);
  }

  /** The newest list that was served or polled for the viewer's account, where it is newer than this snapshot. */
  newerThan(viewer: Viewer, { logicalTime }: SessionAnswer): PositionsAnswer | null {
    const list = this.#newest(viewer);
    return list !== null && list.logicalTime > logicalTime ? list : null;
  }

  /** A running feed has its list even where the board has forgotten it. */
  #newest(viewer: Viewer): PositionsAnswer | null {
    const { board, hub } = this.#options;
    return newer(board.newest(viewer), hub.shown(viewer)?.list ?? null);
  }

  async #running(viewer: Viewer): Promise<PositionsAnswer | null> {
    const { hub, freshness } = this.#options;
    if (hub.current(viewer) === null) return null;
    // The list is looked up again, because a change makes it outdated.
    return (await freshness.catchUp(viewer.account)) ? hub.current(viewer) : null;
  }
}
