import type { Account } from '../../lib/account.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { AccountReads } from '../account/account-reads.ts';
import type { NewestPositions } from '../account/newest-positions.ts';
import type { Sessions } from '../account/sessions.ts';
import { RetryPause } from '../retry-pause.ts';
import type { FeedState } from './feed-state.ts';
import type { ListFeedOptions } from './list-feed.ts';
import type { ScheduledPoll } from './poll-schedule.ts';
import type { FeedSubscription } from './subscription.ts';
import type { TokenRotation } from './token-rotation.ts';

export interface SessionReadsOptions extends ListFeedOptions {
  readonly sessions: Pick<Sessions, 'cached' | 'poll'>;
  readonly accountReads: AccountReads;
  readonly newestPositions: NewestPositions;
  readonly sessionMaxAgeMs: number;
}

/** For subscriptions that follow its figures, the session is read once in this many polls. */
const POLLS_PER_READ = 5;

/** Decides when a feed reads op 10 for subscriptions to orders or session. If op 10 fails, the positions stay live. */
export class SessionReads {
  readonly #options: SessionReadsOptions;
  readonly #account: Account;
  readonly #state: FeedState;
  readonly #tokens: TokenRotation;
  readonly #scheduled: ScheduledPoll;
  readonly #retry: RetryPause;
  #followers = 0;
  #figureFollowers = 0;
  #isReading = false;
  /** Whether first events wait for a read. The earliest of them sets the deadline. */
  isPending = false;
  #cancelWait = () => {};

  constructor(
    options: SessionReadsOptions,
    account: Account,
    state: FeedState,
    tokens: TokenRotation,
  ) {
    this.#options = options;
    this.#account = account;
    this.#state = state;
    this.#tokens = tokens;
    this.#scheduled = options.schedule.join(() => this.#start());
    this.#retry = new RetryPause(options, options.pollMs);
  }

  join({ viewer, hasFigures }: FeedSubscription): void {
    const { sessions, firstListMs, pollMs, clock } = this.#options;
    this.#count(1, hasFigures);
    // A query of the same screen may have just read the session.
    const cached = sessions.cached(viewer);
    if (cached !== null && this.#state.takeSession(cached)) this.#wake();
    if (this.#wantedAfter() === null) this.#release();
    else if (!this.isPending && this.#retry.failures === 0) {
      this.isPending = true;
      const waitMs = this.#state.session === null ? firstListMs : pollMs;
      this.#cancelWait = clock.after(waitMs, () => this.#release());
    }
    this.plan();
  }

  leave({ hasFigures }: FeedSubscription): void {
    this.#count(-1, hasFigures);
    if (this.#followers > 0) return;
    this.#options.schedule.leave(this.#scheduled);
    this.#release();
  }

  /** Called after each poll, and when the account has changed. Polls set the pace. */
  plan(): void {
    if (this.#followers === 0 || this.#isReading || !this.#retry.isOver) return;
    if (this.#wantedAfter() !== null) this.#options.schedule.soon(this.#scheduled);
  }

  #count(more: 1 | -1, hasFigures: boolean): void {
    this.#followers += more;
    if (hasFigures) this.#figureFollowers += more;
    const perSecond = this.#figureFollowers > 0 ? 1000 / this.#figuresMs : 0;
    this.#options.schedule.setDemand(this.#scheduled, perSecond);
  }

  /** The interval of reads for followers of figures: a little less than that of the polls, because a poll can be early. */
  get #figuresMs(): number {
    const { pollMs } = this.#options;
    return POLLS_PER_READ * pollMs - pollMs / 10;
  }

  /** The logical time after which a snapshot must have been requested; null if the present one is recent enough. */
  #wantedAfter(): number | null {
    const { accountReads, newestPositions, schedule, clock, sessionMaxAgeMs } = this.#options;
    const { session } = this.#state;
    if (session === null) return Number.NEGATIVE_INFINITY;
    const changedAt = accountReads.changedAt(this.#account);
    if (session.logicalTime <= changedAt) return changedAt;
    const { positions } = session.session;
    const { ids, idsSince = 0 } = newestPositions.servedTo(this.#account) ?? {};
    // A snapshot without a list cannot contradict the positions.
    const hasSameIds = positions === null || ids === undefined || positions.ids === ids;
    if (session.logicalTime < idsSince && !hasSameIds) return idsSince;
    // A snapshot that differs from the list is read again at the pace of a followed session.
    const isFollowed = this.#figureFollowers > 0 || !hasSameIds;
    const figuresMs = isFollowed ? this.#figuresMs * schedule.stretch : Number.POSITIVE_INFINITY;
    const isOld = clock.now() - session.sentAtMs >= Math.min(figuresMs, sessionMaxAgeMs);
    return isOld ? session.logicalTime : null;
  }

  #start(): void {
    const { sessions, clock } = this.#options;
    const after = this.#wantedAfter();
    if (after === null) {
      this.#release();
      return;
    }
    const token = this.#tokens.next(clock.now());
    if (token === null) return;
    this.#isReading = true;
    const reading = sessions
      .poll(token.viewer, after)
      .then(
        (answer) => {
          this.#retry.succeeded();
          const isNews = this.#state.takeSession(answer);
          this.#release();
          if (isNews) this.#wake();
          this.#tokens.accepted();
        },
        (error: unknown) => {
          // A refusal concerns only this token. The next token reads at once.
          if (this.#tokens.endIfRefused(token, error)) return;
          this.#retry.failed(error);
          this.#release();
        },
      )
      .finally(() => {
        this.#isReading = false;
        this.plan();
      });
    fireAndForget('live feed', reading);
  }

  /** Lets the first events that wait for a read be sent. */
  #release(): void {
    this.#cancelWait();
    if (!this.isPending) return;
    this.isPending = false;
    this.#wake();
  }

  #wake(): void {
    this.#tokens.forEachSubscription((each) => {
      if (each.isAccount) each.events.wake();
    });
  }
}
