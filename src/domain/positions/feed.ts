import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { LiveList } from '../../../lib/live/live-list.ts';
import type { Subscription } from '../../../lib/live/subscription.ts';
import type { PositionsAnswer, SessionAnswer } from '../../gateway/answers.ts';
import { sameMembers } from '../account/relation.ts';
import type { AccountProof } from '../auth/proof.ts';
import { polling, type Viewer } from '../auth/viewer.ts';
import { type AccountReads, createAccountReads } from './account-reads.ts';
import type { FeedOptions } from './feed-options.ts';
import { AccountReader, State } from './feed-state.ts';

/** One account's live positions, and its snapshot for those who follow the whole account. */
export class Feed extends LiveList<Viewer, State> {
  readonly #options: FeedOptions;
  readonly #proof: AccountProof;
  /** Null until somebody follows the account as a whole, or an order has changed it. */
  #account: AccountReads | null = null;

  constructor(proof: AccountProof, options: FeedOptions, onClosed: () => void) {
    super(new State(options.clock), options, onClosed, (viewer) => this.#read(viewer));
    this.#options = options;
    this.#proof = proof;
  }

  override join(subscription: Subscription<Viewer>): void {
    super.join(subscription);
    const { viewer, reader } = subscription.watching;
    if (!(reader instanceof AccountReader)) return;
    const version = this.state.accountChanges.versionOf(reader.after) ?? Number.POSITIVE_INFINITY;
    const leave = this.#reads.join(viewer, version < this.state.readVersion, reader.figures);
    subscription.events.ending.addEventListener('abort', leave);
  }

  /** The live list, where it is as new as a poll would be. */
  current(viewer: Viewer): PositionsAnswer | null {
    return this.state.status === 'LIVE' ? this.#ifCurrent(viewer, this.state.list) : null;
  }

  get #reads(): AccountReads {
    this.#account ??= createAccountReads(this.#options, this);
    return this.#account;
  }

  override accountChanged(): void {
    super.accountChanged();
    this.#reads.accountChanged();
  }

  /** Op 10 may be behind op 12, so a snapshot is only a hint: op 12 is asked what has changed. */
  snapshotAnswered({ logicalTime, session: { positions } }: SessionAnswer): void {
    const { list } = this.state;
    if (list === null || positions === null || logicalTime < list.logicalTime) return;
    if (!sameMembers(positions, list.positions)) this.pollNow();
  }

  /** A first list need not be read where a query has just been served one. */
  protected override known(viewer: Viewer): PositionsAnswer | null {
    return this.#ifCurrent(viewer, this.#options.board.newest(viewer, this.#proof));
  }

  async #read(viewer: Viewer): Promise<PositionsAnswer | null> {
    const { gateway, board, freshness } = this.#options;
    // Not awaited: where another replica's order has changed the account, it is polled once more.
    fireAndForget('other replicas', freshness.catchUp(viewer.account));
    // An answer with the bytes of the list that is shown need not be parsed.
    const answer = await gateway.getOpenPositions(polling(viewer), this.state.list);
    return board.offer(viewer, answer, this.#proof);
  }

  /** A read that has not been made may withhold the account's events. */
  protected override taken(): void {
    this.#account?.changed();
  }

  /** The list, where it was received within the poll interval, and since the account's last order. */
  #ifCurrent({ account }: Viewer, list: PositionsAnswer | null): PositionsAnswer | null {
    const { freshness, clock, pollMs } = this.#options;
    if (list === null || list.logicalTime <= freshness.changedAt(account)) return null;
    // Its receipt counts: a gateway that takes longer than an interval would be asked by each query besides.
    return clock.now() - list.receivedAtMs < pollMs ? list : null;
  }
}
