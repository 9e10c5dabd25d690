import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import type { AccountProof } from '../auth/proof.ts';
import type { Viewer } from '../auth/viewer.ts';
import { Feed } from './feed.ts';
import type { FeedOptions } from './feed-options.ts';
import type { FeedEvent, FeedState } from './feed-state.ts';
import { ListFeeds } from './list-feeds.ts';

/** The live positions of all accounts. Op 10 is read at its own pace. */
export class Feeds extends ListFeeds<Feed, FeedEvent> {
  readonly #options: FeedOptions;

  constructor(options: FeedOptions) {
    super(options);
    this.#options = options;
  }

  /** The list of a running feed, if a query can use it instead of a call. */
  current(viewer: Viewer): PositionsAnswer | null {
    return this.#feedOf(viewer)?.current ?? null;
  }

  /** The state of the viewer's feed, at any age; null without proof, or if no feed has a list. */
  shown(viewer: Viewer): FeedState | null {
    const state = this.#feedOf(viewer)?.state;
    return state?.list ? state : null;
  }

  /** Called with each list that was served to the viewer by a call that was not a poll. */
  served(viewer: Viewer, list: PositionsAnswer): void {
    const { schedule, pollMs } = this.#options;
    // A breaker does not open for 429s and broken answers, so it cannot report this recovery.
    schedule.answered(pollMs);
    this.#feedOf(viewer)?.served(list);
  }

  protected override create(proof: AccountProof, onClosed: () => void): Feed {
    return new Feed(proof, this.#options, onClosed);
  }

  /** Undefined without proof. */
  #feedOf(viewer: Viewer): Feed | undefined {
    const proof = this.#options.ledger.account(viewer);
    return proof === null ? undefined : this.feeds.get(proof.account);
  }
}
