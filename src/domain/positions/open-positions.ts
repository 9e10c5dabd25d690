import type { Clock } from '../../../lib/clock.ts';
import { after, type Eventually } from '../../../lib/eventually.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { GatewayError } from '../../gateway/errors.ts';
import type { Position } from '../../gateway/model.ts';
import type { AccountFreshness } from '../account/account-freshness.ts';
import type { AccountProof, ProofLedger } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import type { BoardScope, PositionsBoard } from './positions-board.ts';

export interface OpenPositionsOptions {
  readonly gateway: ViewerGateway;
  readonly ledger: ProofLedger;
  readonly board: PositionsBoard;
  readonly clock: Clock;
  /** The account's live list, where a feed runs and its list is younger than one poll. */
  readonly live: (proof: AccountProof) => PositionsAnswer | null;
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
  read(viewer: Viewer, { live }: { readonly live: boolean }): Eventually<PositionsAnswer> {
    const running = live ? this.#running(viewer) : null;
    return after(running, (list) => list ?? this.#fetch(viewer));
  }

  #fetch(viewer: Viewer, tries = 1): Promise<PositionsAnswer> {
    const { gateway, board } = this.#options;
    const previous = board.newest(this.#scope(viewer));
    return gateway.getOpenPositions(viewer, previous).then((answer) => {
      // The scope is read again, because this very call may have proved the token.
      const list = board.offer(this.#scope(viewer), answer);
      if (list !== null) return list;
      if (tries < MOST_TRIES) return this.#fetch(viewer, tries + 1);
      const message = 'newer lists came and went meanwhile';
      throw new GatewayError('unavailable', 'getOpenPositions', message);
    });
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
    const isForgotten = this.#options.board.hasNewer(this.#scope(viewer), answer.logicalTime);
    return isForgotten ? undefined : (positions.rows ?? undefined);
  }

  /** The newest list that was served or polled for the viewer's account, where it is newer than this snapshot. */
  newerThan(viewer: Viewer, { logicalTime }: SessionAnswer): PositionsAnswer | null {
    const list = this.#options.board.newest(this.#scope(viewer));
    return list !== null && list.logicalTime > logicalTime ? list : null;
  }

  #running(viewer: Viewer): Eventually<PositionsAnswer | null> {
    const { live, freshness, clock } = this.#options;
    const { proof } = this.#scope(viewer);
    if (proof === null || live(proof) === null) return null;
    const startedAtMs = clock.now();
    return after(freshness.catchUp(proof.account), (isCertain) => {
      // The list is looked up again, because a change makes it outdated.
      const list = isCertain ? live(proof) : null;
      const ms = clock.now() - startedAtMs;
      if (list !== null) viewer.receipt?.({ operation: 'getOpenPositions', ms, source: 'shared' });
      return list;
    });
  }

  #scope(viewer: Viewer): BoardScope {
    return { proof: this.#options.ledger.account(viewer), tokenHash: viewer.tokenHash };
  }
}
