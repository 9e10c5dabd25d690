import { ACCOUNT } from '../../lib/account.ts';
import { memo } from '../../lib/caches.ts';
import type { LogicalClock } from '../../lib/clock.ts';
import type { Prover } from '../account/prover.ts';
import type { AccountProof } from '../auth/proof.ts';
import { polling, type Viewer } from '../auth/viewer.ts';
import { ListFeed, type ListFeedOptions, ListFeeds } from './list-feed.ts';
import {
  type Comparison,
  type Identified,
  type ListAnswer,
  type ListEvent,
  ListState,
} from './list-state.ts';

/** What a team's own live list reads, and how its rows are compared. */
export interface ListSource<Row extends Identified> extends Comparison<Row> {
  /** The name of the field, which errors show too. */
  readonly name: string;
  readonly read: (account: AccountProof, viewer: Viewer) => Promise<readonly Row[]>;
}

export interface OwnListOptions extends ListFeedOptions {
  readonly prover: Pick<Prover, 'account'>;
  readonly logicalClock: Pick<LogicalClock, 'next'>;
}

type OwnFeeds<Row extends Identified> = ListFeeds<
  OwnFeed<Row>,
  Row,
  ListAnswer<Row>,
  ListEvent<Row>
>;

/** The team's own live lists. The feeds of each list are made when it is first watched. */
export class OwnLists {
  readonly #options: OwnListOptions;
  readonly #lists = new Map<string, OwnFeeds<never>>();

  constructor(options: OwnListOptions) {
    this.#options = options;
  }

  of<Row extends Identified>(source: ListSource<Row>): OwnFeeds<Row> {
    const options = this.#options;
    const feedsByName = this.#lists as unknown as Map<string, OwnFeeds<Row>>;
    return memo(feedsByName, source.name, () => {
      return new ListFeeds(options, (proof, onClosed) => {
        return new OwnFeed(proof, options, source, onClosed);
      });
    });
  }

  accountChanged(proof: AccountProof): void {
    for (const feeds of this.#lists.values()) feeds.accountChanged(proof[ACCOUNT]);
  }

  get running(): readonly OwnFeed<never>[] {
    return [...this.#lists.values()].flatMap((feeds) => feeds.running);
  }

  close(): void {
    for (const feeds of this.#lists.values()) feeds.close();
  }
}

class OwnFeed<Row extends Identified> extends ListFeed<Row, ListAnswer<Row>, ListEvent<Row>> {
  readonly state: ListState<Row, ListAnswer<Row>>;
  protected readonly operation: string;
  readonly #options: OwnListOptions;
  readonly #source: ListSource<Row>;

  constructor(
    proof: AccountProof,
    options: OwnListOptions,
    source: ListSource<Row>,
    onClosed: () => void,
  ) {
    super(proof, options, onClosed);
    this.#options = options;
    this.#source = source;
    this.operation = source.name;
    this.state = new ListState(options.clock, source);
  }

  /** The other service knows no token, so a proof that has lapsed is renewed by a call of the gateway. */
  protected override async read(viewer: Viewer): Promise<ListAnswer<Row>> {
    const { prover, logicalClock, clock } = this.#options;
    const poll = polling(viewer);
    const account = await prover.account(poll);
    const sent = { logicalTime: logicalClock.next(), sentAtMs: clock.now() };
    const rows = await this.#source.read(account, poll);
    return { rows, ...sent, receivedAtMs: clock.now() };
  }
}
