import { fireAndForget } from '../fire-and-forget.ts';
import type { ListAnswer, ListState } from './list-state.ts';
import type { LiveOptions, LiveStatus, LiveViewer, PollOutcome } from './live-options.ts';
import type { PollTurn } from './poll-scheduler.ts';
import { RetryPause } from './retry-pause.ts';
import type { Subscription } from './subscription.ts';
import { type RotatedToken, TokenRotation } from './token-rotation.ts';

/** A list is kept for so long after its last subscription ended. */
const LINGER_MS = 10_000;
/** Beyond so many rows the events of a list are made in a turn apart from the one in which it is compared. */
const LONG_LIST = 500;
/** Reading a list takes at most a thirtieth of a core; its events, which have a limit of their own, take the rest of a twentieth. */
const WORK_SHARE = 1 / 30;

/** A state that a live list shows. */
export type PolledState = Pick<
  ListState<unknown, ListAnswer, unknown>,
  'list' | 'status' | 'rows' | 'take'
>;

type AnswerOf<State extends PolledState> = NonNullable<State['list']>;

/** One live list, polled with its subscriptions' tokens in turn, one call at a time. */
export class LiveList<Viewer extends LiveViewer, State extends PolledState> {
  readonly state: State;
  readonly tokens: TokenRotation<Viewer>;
  readonly #options: LiveOptions<Viewer>;
  readonly #read: (viewer: Viewer) => Promise<AnswerOf<State> | null>;
  readonly #turn: PollTurn;
  readonly #retry: RetryPause;
  /** It is the time of the last call. */
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #isInFlight = false;
  /** Another poll was requested after the call under way was sent. */
  #isOutdated = false;
  /** It is false until the first answer, because the interval has no phase yet. */
  #hasPhase = false;
  #lastFailure: Error | null = null;
  /** They say how long a poll's answer has the process work, as of late, and how long what was read beside the polls since the last one has. */
  #workMs = 0;
  #besideMs = 0;
  #cancelLinger = () => {};

  /** `read` makes one call with the viewer's token. It returns null where that has brought nothing that may be shown. */
  constructor(
    state: State,
    options: LiveOptions<Viewer>,
    onClosed: () => void,
    read: (viewer: Viewer) => Promise<AnswerOf<State> | null>,
  ) {
    this.state = state;
    this.#options = options;
    this.#read = read;
    // No token polls without a subscription; the list is kept for a while for clients that reconnect.
    this.tokens = new TokenRotation(options, () => {
      this.#turn.leave();
      this.#cancelLinger = options.clock.after(LINGER_MS, onClosed);
    });
    this.#turn = options.scheduler.join(() => this.#start());
    this.#retry = new RetryPause(options);
  }

  /** A list that need not be read, because another call has just brought it. */
  protected known(_viewer: Viewer): AnswerOf<State> | null {
    return null;
  }

  /** Called with each status and list that were taken, before anybody is woken. */
  protected taken(): void {}

  join(subscription: Subscription<Viewer>): void {
    this.#cancelLinger();
    const isAlone = this.tokens.isEmpty;
    this.tokens.join(subscription);
    if (isAlone) this.#begin(subscription.watching.viewer);
    this.#expectList();
  }

  /** The list has surely changed. A backend that asked for a pause is not polled before its end. */
  pollNow(): void {
    if (this.tokens.isEmpty || this.#retry.failures > 0) return;
    if (this.#isInFlight) this.#isOutdated = true;
    else this.#turn.soon();
  }

  /** Polls at once: the account has surely changed, as after an order. */
  accountChanged(): void {
    this.pollNow();
  }

  /** Shows a list that another call than a poll has brought. */
  served(list: AnswerOf<State>): void {
    this.#publish(this.state.status, list);
  }

  /** Takes what was read beside the polls, for so long, into account for the next interval. */
  worked(ms: number): void {
    this.#besideMs += ms;
  }

  close(): void {
    this.tokens.close();
    this.#cancelLinger();
  }

  /** Begins with a list that is known, or resumes after a linger, no sooner than it would have polled without it. */
  #begin(viewer: Viewer): void {
    const { clock } = this.#options;
    const known = this.state.list === null ? this.known(viewer) : null;
    if (known !== null) this.#publish('LIVE', known);
    if (this.#isInFlight) return;
    const sinceMs = known?.sentAtMs ?? this.#startedAtMs;
    const dueMs = Math.max(sinceMs + this.#intervalMs, this.#retry.untilMs);
    if (dueMs <= clock.now()) this.#turn.soon();
    else this.#turn.at(dueMs, this.#retry.failures > 0 ? this.#retry.askedUntilMs : dueMs);
  }

  get #intervalMs(): number {
    return Math.max(this.#options.pollMs, this.#workMs / WORK_SHARE);
  }

  /** The time counts from the first call: waiting for our own rate ceiling is not the backend's fault. */
  #expectList(): void {
    if (this.state.list !== null || !Number.isFinite(this.#startedAtMs)) return;
    const { firstListMs, noList } = this.#options;
    const failure = () =>
      this.#lastFailure ?? noList?.() ?? new Error('no first list within the deadline');
    this.tokens.forEachSubscription((each) => each.expectList(firstListMs, failure));
  }

  #start(): void {
    const { clock } = this.#options;
    const token = this.#isInFlight ? null : this.tokens.next(clock.now());
    if (token === null) return;
    this.#isInFlight = true;
    this.#isOutdated = false;
    this.#startedAtMs = clock.now();
    this.#expectList();
    const polling = this.#poll(token)
      // A failure behind the call is a failed poll too, or the list would stand still for good.
      .catch((error: unknown): PollOutcome => ({ kind: 'failed', error }))
      .then((outcome) => this.#polled(outcome));
    fireAndForget('live feed', polling);
  }

  /** One poll, from its call to the subscriptions that its answer wakes. */
  async #poll(token: RotatedToken<Viewer>): Promise<PollOutcome> {
    let answer: AnswerOf<State> | null;
    try {
      answer = await this.#read(token.viewer);
    } catch (error) {
      if (this.tokens.isRefused(token, error)) return { kind: 'refused' };
      this.#lastFailure = error instanceof Error ? error : new Error(String(error));
      this.#publish('DELAYED', null);
      return { kind: 'failed', error };
    }
    const { rows } = this.state;
    const { uptimeMs } = this.#options;
    const beganAtMs = uptimeMs();
    // A call sent later may have been answered sooner: then its list is shown.
    this.#publish('LIVE', answer);
    const workMs = (answer?.workMs ?? 0) + uptimeMs() - beganAtMs + this.#besideMs;
    this.#besideMs = 0;
    // One that was interrupted counts for little, and a list that has grown soon.
    this.#workMs = (this.#workMs + workMs) / 2;
    this.tokens.accepted(token);
    return { kind: this.state.rows === rows ? 'unchanged' : 'changed' };
  }

  #polled(outcome: PollOutcome): void {
    const { random, onPoll, scheduler } = this.#options;
    const intervalMs = this.#intervalMs;
    const { kind, error } = outcome;
    this.#isInFlight = false;
    onPoll?.(outcome);
    if (kind === 'failed') this.#retry.failed(error);
    else if (kind !== 'refused') {
      this.#retry.succeeded();
      scheduler.answered(intervalMs);
    }
    if (this.tokens.isEmpty) return;
    // A refusal is about the token alone: the next token polls immediately, so that no subscription misses a poll.
    const isDue = kind === 'refused' || this.#isOutdated || this.tokens.hasUnproved;
    if (kind === 'failed') this.#turn.at(this.#retry.untilMs, this.#retry.askedUntilMs);
    else if (isDue) this.#turn.soon();
    else {
      // Jitter: a random phase keeps lists that began together from polling together.
      const phaseMs = this.#hasPhase ? 0 : intervalMs * (random() - 0.5);
      this.#hasPhase = true;
      this.#turn.every(intervalMs, this.#startedAtMs + phaseMs);
    }
  }

  /** Shows a list unless it shows a newer one; wakes the subscriptions where that changes anything for them. */
  #publish(status: LiveStatus, list: AnswerOf<State> | null): void {
    const isChanged = this.state.take(status, list);
    this.taken();
    if (!isChanged) return;
    const wake = () => this.tokens.forEachSubscription((each) => each.wake());
    const { turns } = this.#options;
    if (turns === undefined || this.state.rows.length <= LONG_LIST) wake();
    else turns.later('live lists', wake);
  }
}
