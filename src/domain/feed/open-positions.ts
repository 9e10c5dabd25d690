import { GatewayError } from '../../gateway/gateway-error.ts';
import type { PositionsAnswer } from '../../gateway/operations/get-open-positions.ts';
import type { SessionAnswer } from '../../gateway/operations/get-session.ts';
import type { Position } from '../../gateway/operations/holdings.ts';
import { ACCOUNT } from '../../lib/account.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { AccountProof } from '../auth/proof.ts';
import { polling, type Viewer } from '../auth/viewer.ts';
import type { ViewerGateway } from '../auth/viewer-gateway.ts';
import { type FeedEvent, FeedState } from './feed-state.ts';
import { ListFeed, ListFeeds } from './list-feed.ts';
import { SessionReads, type SessionReadsOptions } from './session-reads.ts';
import type { FeedSubscription } from './subscription.ts';

export interface OpenPositionsOptions extends SessionReadsOptions {
  readonly gateway: Pick<ViewerGateway, 'getOpenPositions'>;
}

const OPERATION = 'getOpenPositions';
const EVICTED = 'the answer is older than a list that was served and evicted';

/** The live list of one account's open positions, with the reads of op 10 for subscriptions to orders or session. */
export class Feed extends ListFeed<Position, PositionsAnswer, FeedEvent> {
  readonly state: FeedState;
  protected readonly operation = OPERATION;
  readonly #options: OpenPositionsOptions;
  /** Null until a subscription follows orders or session. */
  #sessionReads: SessionReads | null = null;

  constructor(proof: AccountProof, options: OpenPositionsOptions, onClosed: () => void) {
    super(proof, options, onClosed);
    this.#options = options;
    this.state = new FeedState(options.clock);
  }

  override join(subscription: FeedSubscription): void {
    super.join(subscription);
    if (!subscription.isAccount) return;
    const account = this.proof[ACCOUNT];
    this.#sessionReads ??= new SessionReads(this.#options, account, this.state, this.tokens);
    this.#sessionReads.join(subscription);
  }

  override leave(subscription: FeedSubscription): void {
    if (subscription.isAccount) this.#sessionReads?.leave(subscription);
    super.leave(subscription);
  }

  override get holdsFirstEvents(): boolean {
    return this.#sessionReads?.isPending ?? false;
  }

  get current(): PositionsAnswer | null {
    return this.state.status === 'LIVE' ? this.#ifCurrent(this.state.list) : null;
  }

  override accountChanged(): void {
    this.#sessionReads?.plan();
    super.accountChanged();
  }

  protected override known(viewer: Viewer): PositionsAnswer | null {
    return this.#ifCurrent(this.#options.newestPositions.newest(viewer, this.proof));
  }

  protected override async read(viewer: Viewer): Promise<PositionsAnswer | null> {
    const { gateway, newestPositions, accountReads } = this.#options;
    // Not awaited: if another replica has placed an order, one more poll follows.
    fireAndForget('other replicas', accountReads.catchUp(viewer[ACCOUNT]));
    // An answer equal to the present list is not parsed.
    const answer = await gateway.getOpenPositions(polling(viewer), this.state.list);
    return newestPositions.offer(viewer, answer, this.proof);
  }

  protected override polled(): void {
    this.#sessionReads?.plan();
  }

  /** The list, if it was received within the poll interval and after the account's last order. */
  #ifCurrent(list: PositionsAnswer | null): PositionsAnswer | null {
    const { accountReads, clock, pollMs } = this.#options;
    if (list === null || list.logicalTime <= accountReads.changedAt(this.proof[ACCOUNT]))
      return null;
    // The age counts from the answer: counted from the call, the list of a slow gateway would be too old when it arrives.
    return clock.now() - list.receivedAtMs < pollMs ? list : null;
  }
}

/** The open positions of all accounts: their live feeds, and the reads of queries, which use a recent list of a feed. */
export class OpenPositions extends ListFeeds<Feed, Position, PositionsAnswer, FeedEvent> {
  readonly #options: OpenPositionsOptions;

  constructor(options: OpenPositionsOptions) {
    super(options, (proof, onClosed) => new Feed(proof, options, onClosed));
    this.#options = options;
  }

  /** `after`: the logical time of the request's last write, or 0. A running feed's list may be older than that write. */
  async read(viewer: Viewer, { after }: { readonly after: number }): Promise<PositionsAnswer> {
    const live = after === 0 ? await this.#liveList(viewer) : null;
    return live ?? this.#joinedList(viewer, after);
  }

  /** A snapshot's positions, or a newer served list. Null if the snapshot has none; undefined if no list is in memory. */
  newest(viewer: Viewer, answer: SessionAnswer): readonly Position[] | null | undefined {
    const { ledger, newestPositions } = this.#options;
    const { logicalTime, session } = answer;
    if (session.positions === null) return null;
    const proof = ledger.account(viewer);
    const list = newestPositions.newest(viewer, proof);
    if (list !== null && list.logicalTime > logicalTime) return list.rows;
    const isForgotten = newestPositions.hasNewer(viewer, logicalTime, proof);
    return isForgotten ? undefined : (session.positions.rows ?? undefined);
  }

  /** The state of the viewer's feed, at any age; null without proof, or if no feed has a list. */
  shown(viewer: Viewer): FeedState | null {
    const state = this.of(this.#options.ledger.account(viewer))?.state;
    return state?.list ? state : null;
  }

  /** The list of a running feed, if a query can use it instead of a call. */
  current(viewer: Viewer): PositionsAnswer | null {
    return this.of(this.#options.ledger.account(viewer))?.current ?? null;
  }

  async #liveList(viewer: Viewer): Promise<PositionsAnswer | null> {
    const { accountReads, clock } = this.#options;
    if (this.current(viewer) === null) return null;
    const startedAtMs = clock.now();
    // The list is looked up again, because an order at another replica makes the first one outdated.
    const list = (await accountReads.catchUp(viewer[ACCOUNT])) ? this.current(viewer) : null;
    const ms = clock.now() - startedAtMs;
    if (list !== null) viewer.receipt?.({ operation: OPERATION, ms, source: 'shared' });
    return list;
  }

  async #joinedList(viewer: Viewer, after: number): Promise<PositionsAnswer> {
    const { accountReads } = this.#options;
    // A call from before an order at another replica is not joined.
    const isJoining = accountReads.isReading(viewer, OPERATION);
    if (isJoining && !(await accountReads.catchUp(viewer[ACCOUNT]))) {
      accountReads.written(viewer[ACCOUNT]);
    }
    return accountReads.read(viewer, OPERATION, (caller) => this.#fetch(caller), { after });
  }

  async #fetch(viewer: Viewer): Promise<PositionsAnswer> {
    const { gateway, ledger, newestPositions, schedule, pollMs } = this.#options;
    const previous = newestPositions.newest(viewer);
    const answer = await gateway.getOpenPositions(viewer, previous);
    // Asked again, because this call may have proved the token, and another may have ended its proof.
    const proof = ledger.account(viewer);
    const list = newestPositions.offer(viewer, answer, proof);
    if (list === null) throw new GatewayError('unavailable', OPERATION, EVICTED);
    // A breaker does not open for 429s and broken answers, so it cannot report this recovery.
    schedule.answered(pollMs);
    this.of(proof)?.served(list);
    return list;
  }
}
