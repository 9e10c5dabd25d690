import { type Clock, type LogicalClock, pause } from '../../../lib/clock.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { digestOf } from '../account/membership.ts';
import type { Sessions } from '../account/sessions.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { OpenPositions } from './open-positions.ts';

/** The two lists of an account that an answer shows side by side, each as of its own call. */
export interface ListPair {
  readonly answer: SessionAnswer;
  readonly list: PositionsAnswer;
}

export interface ListPairsOptions {
  readonly sessions: Pick<Sessions, 'read' | 'leftOrders'>;
  readonly openPositions: Pick<OpenPositions, 'read'>;
  readonly clock: Clock;
  readonly logicalClock: LogicalClock;
}

const REREAD_AFTER_MS = [250, 1_000];
/** From then on a list of positions that lacks an order says that it is no position, rather than not yet. */
const BELIEVED_AFTER_MS = 1_000;

/** Sees to it that an order which is triggered between the two calls of a pair is in one of its lists. */
export class ListPairs {
  readonly #options: ListPairsOptions;

  constructor(options: ListPairsOptions) {
    this.#options = options;
  }

  /**
   * Reads the older list again while an order that was shown is in neither; after the last time it is believed to
   * be cancelled. An order in both is left there: its position is right, and the next snapshot lacks it.
   */
  async settle(viewer: Viewer, { answer: first, list: positions }: ListPair): Promise<ListPair> {
    const { clock, openPositions } = this.#options;
    let [answer, list] = [await this.#agreeing(viewer, first, positions), positions];
    const left = new Map<string, number>();
    for (const waitMs of REREAD_AFTER_MS) {
      for (const [id, sinceMs] of this.#options.sessions.leftOrders(viewer)) left.set(id, sinceMs);
      const nowhere = missing(left, { answer, list });
      if (nowhere.length === 0) break;
      await pause(clock, waitMs, viewer.caller.signal);
      const { ids = [] } = answer.session.positions ?? {};
      // A snapshot that has the position already is the newer one, whenever it was asked for.
      const isListOlder =
        list.logicalTime < answer.logicalTime || nowhere.some((id) => ids.includes(id));
      if (isListOlder) list = await openPositions.read(viewer, { live: false });
      else answer = await this.#readAgain(viewer);
    }
    return { answer, list };
  }

  /** A snapshot from before the list may have an order that is a position by now; one behind it is taken as it is. */
  #agreeing(
    viewer: Viewer,
    answer: SessionAnswer,
    list: PositionsAnswer,
  ): SessionAnswer | Promise<SessionAnswer> {
    const own = answer.session.positions;
    if (own === null || list.logicalTime < answer.logicalTime) return answer;
    return digestOf(own.ids) === digestOf(idsOf(list)) ? answer : this.#readAgain(viewer);
  }

  #readAgain(viewer: Viewer): SessionAnswer | Promise<SessionAnswer> {
    const { sessions, logicalClock } = this.#options;
    return sessions.read(viewer, { after: logicalClock.next() });
  }
}

/** The orders that left the snapshots and are in neither list, where the list of positions may still be to have them. */
function missing(left: ReadonlyMap<string, number>, { answer, list }: ListPair): string[] {
  const { orders } = answer.session;
  if (orders === null) return [];
  const listed = new Set([...idsOf(list), ...orders.map(({ id }) => id)]);
  const isEarly = (sinceMs: number) => list.sentAtMs < sinceMs + BELIEVED_AFTER_MS;
  return [...left].filter(([id, since]) => isEarly(since) && !listed.has(id)).map(([id]) => id);
}

function idsOf({ positions }: PositionsAnswer): string[] {
  return positions.map(({ id }) => id);
}
