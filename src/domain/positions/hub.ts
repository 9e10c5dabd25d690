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
  /** Whether rows of which only prices have changed come apart. */
  readonly ticks?: boolean;
}

export type PositionsHub = ReturnType<typeof createPositionsHub>;

/**
 * All live feeds of this process: one per account, whose polls serve every device and socket that subscribes.
 * Subscribing requires proof; a token that only claims the account learns nothing, not even whether a feed
 * exists.
 */
export function createPositionsHub(options: PositionsHubOptions) {
  const {
    freshness,
    ledger,
    clock,
    pollMs,
    heartbeatMs = SHORTEST_HEARTBEAT_MS,
    onEvent,
  } = options;
  const feeds = new Map<string, Feed>();
  let isClosed = false;

  function watch<Event>(
    proof: AccountProof,
    viewer: Viewer,
    { after = null, intervalMs, heartbeatSeconds }: WatchChangesOptions,
    reader: FeedReader<Event>,
    followsAccount = false,
  ): PullStream<Event> {
    const { account } = proof;
    if (account !== viewer.account) throw new Error('the proof is of another account');
    const subscription = new Subscription<Event>({
      ...{ reader, followsAccount, after, onEvent },
      viewer: lasting(viewer),
      timers: clock,
      intervalMs: readIntervalMs(intervalMs),
      heartbeatMs: readHeartbeatMs(heartbeatSeconds) ?? heartbeatMs,
      join: (joining) => {
        if (isClosed) return null;
        const onClosed = () => feeds.delete(account);
        const feed = feeds.get(account) ?? new Feed(proof, options, onClosed);
        feeds.set(account, feed);
        feed.join(joining);
        return feed;
      },
    });
    return subscription.events;
  }

  /** Nothing without proof. */
  function feedOf(viewer: Viewer): Feed | undefined {
    const proof = ledger.account(viewer);
    return proof === null ? undefined : feeds.get(proof.account);
  }

  /** The state of the viewer's feed, however old it is; null without proof, or where no feed has a list. */
  function shown(viewer: Viewer): FeedState | null {
    const state = feedOf(viewer)?.state;
    return state?.list ? state : null;
  }

  /** The other feeds are kept for clients that reconnect. */
  function polling(): readonly Feed[] {
    return [...feeds.values()].filter(({ ring }) => !ring.isEmpty);
  }

  return {
    /** Emits the whole list first, then again whenever it has changed. Polling starts with the first pull. */
    watchPositions: (proof: AccountProof, viewer: Viewer, how: WatchOptions = {}) =>
      watch(proof, viewer, how, new ListReader()),
    /** Emits a snapshot, or resumes at `after`, then deltas. Polling starts with the first pull. */
    watchChanges(proof: AccountProof, viewer: Viewer, how: WatchChangesOptions = {}) {
      const reader = new ChangesReader((state) => state.positionChanges, how);
      return watch(proof, viewer, how, reader);
    },
    /** The same with the orders and the figures of the account, for which op 10 is read now and then. */
    watchAccount(proof: AccountProof, viewer: Viewer, how: WatchChangesOptions = {}) {
      const reader = new ChangesReader((state) => state.accountChanges, how);
      return watch(proof, viewer, how, reader, true);
    },
    /** The live list, where a feed runs and received it within the poll interval, and since the account's last order. */
    current(viewer: Viewer): PositionsAnswer | null {
      const { list, status } = shown(viewer) ?? {};
      if (!list || status !== 'LIVE') return null;
      if (list.logicalTime <= freshness.changedAt(viewer.account)) return null;
      // By its receipt: a gateway that takes longer than an interval would be asked by each query besides.
      return clock.now() - list.receivedAtMs < pollMs ? list : null;
    },
    shown,
    /** The number of positions in the account's live list; null where no feed has one. */
    sizeFor: (account: string) => feeds.get(account)?.state.list?.positions.length ?? null,
    /** Called with each list that was served to the viewer, by another call than a poll. */
    served: (viewer: Viewer, list: PositionsAnswer) => feedOf(viewer)?.served(list),
    /** Reads before the interval is over, because the account has surely changed, as after an order. */
    accountChanged: (account: string) => feeds.get(account)?.accountChanged(),
    /** Called with each snapshot of the viewer's account. */
    snapshotAnswered: ({ account }: Viewer, answer: SessionAnswer) =>
      feeds.get(account)?.snapshotAnswered(answer),
    /** The accounts that are polled. */
    get feeds(): number {
      return polling().length;
    },
    /** Those whose last poll failed. */
    get delayed(): number {
      return polling().filter(({ state }) => state.status === 'DELAYED').length;
    },
    get subscriptions(): number {
      return polling().reduce((sum, { ring }) => sum + ring.subscriptions.length, 0);
    },
    /** Since the gateway confirmed the oldest list of a polling feed; 0 without lists. */
    get oldestSeconds(): number {
      const nowMs = clock.now();
      const ages = polling().map(({ state }) => nowMs - (state.list?.sentAtMs ?? nowMs));
      return ages.reduce((oldest, ageMs) => Math.max(oldest, ageMs / 1000), 0);
    },
    /** Ends every subscription without an error, for the shutdown of the server. */
    close(): void {
      isClosed = true;
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}
