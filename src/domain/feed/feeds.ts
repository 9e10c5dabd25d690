import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import type { Account } from '../../lib/account.ts';
import { memo } from '../../lib/memo.ts';
import type { PullStream } from '../../lib/pull-stream.ts';
import type { AccountProof } from '../auth/proof.ts';
import { lasting, type Viewer } from '../auth/viewer.ts';
import { Feed } from './feed.ts';
import type { FeedOptions } from './feed-options.ts';
import type { FeedEvent, FeedState } from './feed-state.ts';
import { Subscription } from './subscription.ts';
import type { WatchOptions } from './watch-options.ts';

/**
 * All live feeds of this process. Each account has one feed, whose polls serve every device and socket that subscribes.
 * Subscribing requires proof: a token that only claims the account cannot even find out whether a feed exists.
 */
export class Feeds {
  readonly #options: FeedOptions;
  readonly #feeds = new Map<Account, Feed>();
  #isClosed = false;

  constructor(options: FeedOptions) {
    this.#options = options;
  }

  /**
   * Emits a snapshot, or the changes since the cursor `after`; then further changes. A subscription that follows the list
   * gets a snapshot each time. Polling starts with the first pull. Op 10 is read at its own pace.
   */
  watch(proof: AccountProof, viewer: Viewer, how: WatchOptions = {}): PullStream<FeedEvent> {
    const { account } = proof;
    if (account !== viewer.account) throw new Error('the proof is of another account');
    return new Subscription(this.#options, lasting(viewer), how, (subscription) => {
      if (this.#isClosed) return null;
      const onClosed = () => this.#feeds.delete(account);
      const feed = memo(this.#feeds, account, () => new Feed(proof, this.#options, onClosed));
      feed.join(subscription);
      return feed;
    }).events;
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

  /** Called when an order may have changed the account. The feed polls before its interval is over. */
  accountChanged(account: Account): void {
    this.#feeds.get(account)?.accountChanged();
  }

  get polled(): number {
    return this.#running.length;
  }

  get delayed(): number {
    return this.#running.filter(({ state }) => state.status === 'DELAYED').length;
  }

  get subscriptions(): number {
    return this.#running.reduce((sum, { subscriptionCount }) => sum + subscriptionCount, 0);
  }

  /** The time since the gateway last confirmed a polled feed's list, for the feed with the oldest list; 0 without feeds. */
  get oldestSeconds(): number {
    const nowMs = this.#options.clock.now();
    const ages = this.#running.map(({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs));
    return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs / 1000), 0);
  }

  /** Ends every subscription without an error, for the shutdown of the server. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }

  get #running(): readonly Feed[] {
    return [...this.#feeds.values()].filter(({ isPolled }) => isPolled);
  }

  /** Undefined without proof. */
  #feedOf(viewer: Viewer): Feed | undefined {
    const proof = this.#options.ledger.account(viewer);
    return proof === null ? undefined : this.#feeds.get(proof.account);
  }
}
