import type { PullStream } from '../../../lib/pull-stream.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import type { AccountProof } from '../auth/proof.ts';
import { lasting, type Viewer } from '../auth/viewer.ts';
import { Feed } from './feed.ts';
import type { FeedOptions } from './feed-options.ts';
import { ChangesReader, type FeedReader, ListReader } from './feed-reader.ts';
import type { FeedState } from './feed-state.ts';
import {
  readHeartbeatMs,
  readIntervalMs,
  SHORTEST_HEARTBEAT_MS,
  Subscription,
} from './subscription.ts';

export interface PositionsHubOptions extends FeedOptions {
  /** Of subscriptions that request none. */
  readonly heartbeatMs?: number | undefined;
  /** Called with each event, and with the number of changes that are merged into it. */
  readonly onEvent?: (merged: number) => void;
}

export interface WatchOptions {
  readonly intervalMs?: number | null | undefined;
  readonly heartbeatSeconds?: number | null | undefined;
}

export interface WatchChangesOptions extends WatchOptions {
  /** The cursor to resume from. */
  readonly after?: string | null | undefined;
}

/**
 * All live feeds of this process: one per account, whose polls serve every device and socket that subscribes.
 * Subscribing requires proof; a token that only claims the account learns nothing, not even whether a feed
 * exists.
 */
export class PositionsHub {
  readonly #options: PositionsHubOptions;
  readonly #feeds = new Map<string, Feed>();
  #isClosed = false;

  constructor(options: PositionsHubOptions) {
    this.#options = options;
  }

  /** Emits the whole list first, then again whenever it has changed. Polling starts with the first pull. */
  watchPositions(proof: AccountProof, viewer: Viewer, options: WatchOptions = {}) {
    return this.#watch(proof, viewer, options, new ListReader());
  }

  /** Emits a snapshot, or resumes at `after`, then deltas. Polling starts with the first pull. */
  watchChanges(proof: AccountProof, viewer: Viewer, options: WatchChangesOptions = {}) {
    const reader = new ChangesReader((state) => state.positionChanges, options.after ?? null);
    return this.#watch(proof, viewer, options, reader);
  }

  /** The same with the orders and the figures of the account, for which op 10 is read now and then. */
  watchAccount(proof: AccountProof, viewer: Viewer, options: WatchChangesOptions = {}) {
    const reader = new ChangesReader((state) => state.accountChanges, options.after ?? null);
    return this.#watch(proof, viewer, options, reader, true);
  }

  /** The live list, where a feed runs and received it within the poll interval, and since the account's last order. */
  current(viewer: Viewer): PositionsAnswer | null {
    const { freshness, clock, pollMs } = this.#options;
    const { list, status } = this.shown(viewer) ?? {};
    if (!list || status !== 'LIVE') return null;
    if (list.logicalTime <= freshness.changedAt(viewer.account)) return null;
    // By its receipt: a gateway that takes longer than an interval would be asked by each query besides.
    return clock.now() - list.receivedAtMs < pollMs ? list : null;
  }

  /** The state of the viewer's feed, however old it is; null without proof, or where no feed has a list. */
  shown(viewer: Viewer): FeedState | null {
    const state = this.#feedOf(viewer)?.state;
    return state?.list ? state : null;
  }

  /** The number of positions in the account's live list; null where no feed has one. */
  sizeFor(account: string): number | null {
    return this.#feeds.get(account)?.state.list?.positions.length ?? null;
  }

  /** Called with each list that was served to the viewer, by another call than a poll. */
  served(viewer: Viewer, list: PositionsAnswer): void {
    this.#feedOf(viewer)?.served(list);
  }

  /** Reads before the interval is over, because the account has surely changed, as after an order. */
  accountChanged(account: string): void {
    this.#feeds.get(account)?.accountChanged();
  }

  /** Called with each snapshot of the viewer's account. */
  snapshotAnswered({ account }: Viewer, answer: SessionAnswer): void {
    this.#feeds.get(account)?.snapshotAnswered(answer);
  }

  /** The accounts that are polled. */
  get feeds(): number {
    return this.#polling().length;
  }

  /** Those whose last poll failed. */
  get delayed(): number {
    return this.#polling().filter(({ state }) => state.status === 'DELAYED').length;
  }

  get subscriptions(): number {
    return this.#polling().reduce((sum, { ring }) => sum + ring.subscriptions.length, 0);
  }

  /** Since the gateway confirmed the oldest list of a polling feed; 0 without lists. */
  get oldestSeconds(): number {
    const nowMs = this.#options.clock.now();
    const ages = this.#polling().map(({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs));
    return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs / 1000), 0);
  }

  /** Ends every subscription without an error, for the shutdown of the server. */
  close(): void {
    this.#isClosed = true;
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
  }

  #watch<Event>(
    proof: AccountProof,
    viewer: Viewer,
    { after = null, intervalMs, heartbeatSeconds }: WatchChangesOptions,
    reader: FeedReader<Event>,
    followsAccount = false,
  ): PullStream<Event> {
    if (proof.account !== viewer.account) throw new Error('the proof is of another account');
    const { clock, heartbeatMs = SHORTEST_HEARTBEAT_MS, onEvent } = this.#options;
    const subscription = new Subscription<Event>({
      ...{ reader, followsAccount, after, onEvent },
      viewer: lasting(viewer),
      timers: clock,
      intervalMs: readIntervalMs(intervalMs),
      heartbeatMs: readHeartbeatMs(heartbeatSeconds) ?? heartbeatMs,
      join: (joining) => {
        if (this.#isClosed) return null;
        const { account } = proof;
        const onClosed = () => this.#feeds.delete(account);
        const feed = this.#feeds.get(account) ?? new Feed(proof, this.#options, onClosed);
        this.#feeds.set(account, feed);
        feed.join(joining);
        return feed;
      },
    });
    return subscription.events;
  }

  /** Nothing without proof. */
  #feedOf(viewer: Viewer): Feed | undefined {
    const proof = this.#options.ledger.account(viewer);
    return proof === null ? undefined : this.#feeds.get(proof.account);
  }

  /** The other feeds are kept for clients that reconnect. */
  #polling(): readonly Feed[] {
    return [...this.#feeds.values()].filter(({ ring }) => !ring.isEmpty);
  }
}
