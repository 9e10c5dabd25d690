import { type Clock, type LogicalClock, pause } from '../../../lib/clock.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Viewer } from '../auth/viewer.ts';
import type { OpenPositions } from '../positions/open-positions.ts';
import type { PositionsBoard } from '../positions/positions-board.ts';
import { BELIEVED_AFTER_MS, NO_AWAITED_ORDERS, relate } from './relation.ts';
import type { Sessions } from './sessions.ts';

/** The two lists of an account that an answer shows side by side, each as of its own call. */
export interface ListPair {
  readonly answer: SessionAnswer;
  readonly list: PositionsAnswer;
}

const FIRST_MS = 250;
const REREAD_AFTER_MS = [FIRST_MS, BELIEVED_AFTER_MS - FIRST_MS];

export function createSettlePair(
  sessions: Sessions,
  openPositions: OpenPositions,
  board: Pick<PositionsBoard, 'withMembersTime'>,
  clock: Clock,
  logicalClock: LogicalClock,
) {
  /**
   * Sees to it that an order which is triggered between the two calls of a pair is in one of its lists: reads an outdated snapshot
   * again at once, and then the older list while an order that was shown is in neither; after the last time it is believed to be
   * cancelled. An order in both is left there: its position is right, and the next snapshot lacks it.
   */
  return async function settlePair(viewer: Viewer, pair: ListPair): Promise<ListPair> {
    let { answer, list } = pair;
    const readAgain = () => sessions.read(viewer, { after: logicalClock.next() });
    const known = board.withMembersTime(viewer, list);
    const relation = relate(known, answer, NO_AWAITED_ORDERS, clock.now());
    if (relation === 'snapshot-outdated') answer = await readAgain();
    const left = new Map<string, number>();
    for (const waitMs of REREAD_AFTER_MS) {
      for (const [id, sinceMs] of sessions.leftOrders(viewer)) left.set(id, sinceMs);
      const relation = relate(list, answer, left, clock.now());
      if (relation === 'agree' || relation === 'differ') break;
      await pause(clock, waitMs, viewer.signal);
      if (relation === 'list-behind')
        list = await openPositions.read(viewer, { after: answer.logicalTime });
      else answer = await readAgain();
    }
    return { answer, list };
  };
}
