import type { ReadTimes } from '../../gateway/exchange.ts';
import type { Account } from '../../lib/account.ts';
import { memo } from '../../lib/caches.ts';
import type { EventIterator } from '../../lib/event-iterator.ts';
import type { AccountProof } from '../auth/proof.ts';
import { lasting, type Viewer } from '../auth/viewer.ts';
import type { ListFeedOptions } from './list-feed.ts';
import type { ListEvent } from './list-state.ts';
import {
  type FeedSubscription,
  type ReadState,
  type SubscribedFeed,
  Subscription,
  type WatchOptions,
} from './subscription.ts';

/** A feed of any rows, as the class below uses it. */
interface KeptFeed<Event> extends SubscribedFeed<Event> {
  readonly state: ReadState<Event> & { readonly list: Pick<ReadTimes, 'sentAtMs'> | null };
  readonly isPolled: boolean;
  readonly subscriptionCount: number;
  join(subscription: FeedSubscription): void;
  accountChanged(): void;
  tokenRefused(viewer: Viewer): void;
  close(): void;
}

/**
 * All feeds of one kind of list in this process. Each account has one feed, whose polls serve every device and socket that
 * subscribes. Subscribing requires proof: a token that only claims the account cannot even find out whether a feed exists.
 */
export abstract class ListFeeds<Feed extends KeptFeed<Event>, Event extends ListEvent<unknown>> {
  protected readonly feeds = new Map<Account, Feed>();
  readonly #options: ListFeedOptions;
  #isClosed = false;

  constructor(options: ListFeedOptions) {
    this.#options = options;
    // What is under way for a refused token's subscriptions must not be sent.
    options.ledger.onRefused((viewer) => this.feeds.get(viewer.account)?.tokenRefused(viewer));
  }

  protected abstract create(proof: AccountProof, onClosed: () => void): Feed;

  /**
   * Emits a snapshot, or the changes since the cursor `after`; then further changes. A subscription that follows the list
   * gets a snapshot each time. Polling starts with the first pull.
   */
  watch(proof: AccountProof, viewer: Viewer, how: WatchOptions = {}): EventIterator<Event> {
    const { account } = proof;
    if (account !== viewer.account) throw new Error('the proof is of another account');
    return new Subscription<Event>(this.#options.clock, lasting(viewer), how, (subscription) => {
      if (this.#isClosed) return null;
      const onClosed = () => this.feeds.delete(account);
      const feed = memo(this.feeds, account, () => this.create(proof, onClosed));
      feed.join(subscription);
      return feed;
    }).events;
  }

  /** Called when a write may have changed the account. The feed polls before its interval is over. */
  accountChanged(account: Account): void {
    this.feeds.get(account)?.accountChanged();
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

  /** The time since a polled feed's list was last confirmed, for the feed with the oldest list; 0 without feeds. */
  get oldestSeconds(): number {
    const nowMs = this.#options.clock.now();
    const ages = this.#running.map(({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs));
    return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs / 1000), 0);
  }

  /** Ends every subscription without an error, for the shutdown of the server. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.feeds.values()) feed.close();
    this.feeds.clear();
  }

  get #running(): readonly Feed[] {
    return [...this.feeds.values()].filter(({ isPolled }) => isPolled);
  }
}
