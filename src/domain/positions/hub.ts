import type { Account } from '../../../lib/account.ts';
import { LiveLists } from '../../../lib/live/live-lists.ts';
import type { WatchOptions } from '../../../lib/live/live-options.ts';
import { ChangesReader, createListReader, type LiveReader } from '../../../lib/live/readers.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { Position } from '../../gateway/model.ts';
import type { AccountProof } from '../auth/proof.ts';
import { lasting, type Viewer } from '../auth/viewer.ts';
import { checkTimes } from '../live-arguments.ts';
import { Feed } from './feed.ts';
import type { FeedOptions } from './feed-options.ts';
import { type AccountOptions, AccountReader, type FeedState } from './feed-state.ts';

export type PositionsHub = ReturnType<typeof createPositionsHub>;

/**
 * All live feeds of this process: one per account, whose polls serve every device and socket that subscribes. Subscribing
 * requires proof; a token that only claims the account learns nothing, not even whether a feed exists.
 */
export function createPositionsHub(options: FeedOptions) {
  const create = (proof: AccountProof, onClosed: () => void) => new Feed(proof, options, onClosed);
  const feeds = new LiveLists(options, create);

  function watch<Event>(
    proof: AccountProof,
    viewer: Viewer,
    how: WatchOptions,
    reader: LiveReader<FeedState, Event>,
  ) {
    const { account } = proof;
    if (account !== viewer.account) throw new Error('the proof is of another account');
    checkTimes(how);
    return feeds.watch(account, proof, { ...how, viewer: lasting(viewer), reader });
  }

  /** Nothing without proof. */
  function feedOf(viewer: Viewer): Feed | undefined {
    const proof = options.ledger.account(viewer);
    return proof === null ? undefined : feeds.get(proof.account);
  }

  return {
    /** Emits the whole list first, then again whenever it has changed. Polling starts with the first pull. */
    watchPositions: (proof: AccountProof, viewer: Viewer, how: WatchOptions = {}) =>
      watch(proof, viewer, how, createListReader<Position>()),
    /** Emits a snapshot, or resumes at `after`, then deltas. Polling starts with the first pull. */
    watchChanges: (proof: AccountProof, viewer: Viewer, how: WatchOptions = {}) =>
      watch(proof, viewer, how, new ChangesReader(({ changes }: FeedState) => changes, how)),
    /** The same with the orders and the figures of the account, for which op 10 is read now and then. */
    watchAccount: (proof: AccountProof, viewer: Viewer, how: AccountOptions = {}) =>
      watch(proof, viewer, how, new AccountReader(how)),
    /** The live list, where a feed runs and a query need not read it. */
    current: (viewer: Viewer) => feedOf(viewer)?.current(viewer) ?? null,
    /** The state of the viewer's feed, however old it is; null without proof, or where no feed has a list. */
    shown(viewer: Viewer): FeedState | null {
      const state = feedOf(viewer)?.state;
      return state?.list ? state : null;
    },
    /** The number of positions in the account's live list; null where no feed has one. */
    sizeFor: (account: Account) => feeds.get(account)?.state.list?.positions.length ?? null,
    /** Called with each list that was served to the viewer, by another call than a poll. */
    served: (viewer: Viewer, list: PositionsAnswer) => feedOf(viewer)?.served(list),
    /** Reads before the interval is over, because the account has surely changed, as after an order. */
    accountChanged: (account: Account) => feeds.get(account)?.accountChanged(),
    /** Called with each snapshot of the viewer's account. */
    snapshotAnswered: ({ account }: Viewer, answer: SessionAnswer) =>
      feeds.get(account)?.snapshotAnswered(answer),
    /** All of them, for metrics and the shutdown of the server. */
    feeds,
  };
}
