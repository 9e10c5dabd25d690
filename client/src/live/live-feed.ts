import type { OwnSink, Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { backoffMs } from '../request/backoff.ts';
import { messageOf, protocolError } from '../request/failures.ts';
import { isFinal } from './is-final.ts';
import type { LiveEvent, LiveSource, LiveState, LiveSum, LiveVariables } from './live-source.ts';

interface LiveSubscription {
  readonly intervalMs: number | null;
  isFirst: boolean;
  end: () => void;
}

interface Retry {
  readonly cancel: () => void;
  /** Whether the server has named the time to wait. */
  readonly isDemanded: boolean;
}

/** What a feed needs of the client, or of another client. */
export interface FeedCore<Data> {
  readonly environment: Pick<Environment, 'random' | 'after' | 'isServer'> & {
    readonly lifecycle?: Pick<Environment['lifecycle'], 'onReturn'>;
  };
  readonly heartbeatSeconds: number;
  subscribe(
    operation: Operation<Data, LiveVariables>,
    variables: () => LiveVariables,
    sink: OwnSink<Data>,
  ): () => void;
}

/** Who uses a feed. */
export interface FeedUser {
  onChanged(): void;
  /** Called with the time at which the server has confirmed the list; null if the list was dropped. */
  onConfirmed?(asOf: Date | null): void;
  /** Queries the list again and again, in place of the subscription. */
  readonly polling?: { start(): void; stop(): void };
}

/** If a connection makes no progress in this time, the list becomes OFFLINE. */
const CONNECTING_MS = 5_000;

/** The one subscription that serves all listeners, and the state that results from its events. */
export class LiveFeed<Data, Event extends LiveEvent, Sum extends LiveSum, State extends LiveState> {
  readonly #source: LiveSource<Data, Event, Sum, State>;
  readonly #core: FeedCore<Data>;
  readonly #user: FeedUser;
  #unlisten: (() => void) | null = null;
  #state: State;
  #folded: Sum | null = null;
  /** Ends the state CONNECTING, and cancels its timer. Null once the list is no longer CONNECTING. */
  #connecting: (() => void) | null = () => {};
  /** Whether the list comes from polling: no socket opens, and the last query has delivered it. */
  #isPolled = false;
  /** Whether the list is incomplete, so that its cursor must not be used. */
  #hasGap = false;
  /** Whether the present subscription has delivered an event. */
  #isFollowing = false;
  #error: TradingGraphError | null = null;
  #isWanted = false;
  #intervalMs: number | null = null;
  /** Whether a permanent error has ended the feed. */
  #isOver = false;
  #subscription: LiveSubscription | null = null;
  #retry: Retry | null = null;
  #failures = 0;
  /** Whether a subscription has ended, and no later subscription has delivered an event. */
  #isRenewing = false;

  constructor(core: FeedCore<Data>, source: LiveSource<Data, Event, Sum, State>, user: FeedUser) {
    this.#core = core;
    this.#source = source;
    this.#state = source.nothing;
    this.#user = user;
  }

  /** Whether the list is updated at present. */
  get isCurrent(): boolean {
    return this.#folded !== null && (this.#isFollowing || this.#isPolled);
  }

  /** The list that results from all events so far. */
  get folded(): Sum | null {
    return this.#folded;
  }

  /** The same object until something changes. */
  get state(): State {
    return this.#state;
  }

  /** Follows the list with at most one event in this time; null means every event. */
  follow(intervalMs: number | null): void {
    this.#intervalMs = intervalMs;
    if (!this.#isWanted) {
      this.#isWanted = true;
      this.#isOver = false;
      this.#error = null;
      this.#connect();
      this.#unlisten = this.#core.environment.lifecycle?.onReturn(() => this.#returned()) ?? null;
      this.#publish();
    }
    this.#settle();
  }

  /** Ends the subscription, and keeps the list and its cursor for the next one. */
  pause(): void {
    this.#isWanted = false;
    this.#unlisten?.();
    this.#unlisten = null;
    this.#forgetFailures();
    if (this.#error === null) this.#connect();
    this.#settle();
  }

  /** Drops the list, because another account is signed in. */
  forget(): void {
    this.#folded = null;
    this.#user.onConfirmed?.(null);
    this.#hasGap = false;
    this.#error = null;
    this.#isOver = false;
    this.#connect();
    this.#forgetFailures();
    this.#closeSubscription();
    this.#publish();
    this.#settle();
  }

  dispose(error: TradingGraphError): void {
    // On a server the list may belong to another user than the one who reads it next.
    if (this.#core.environment.isServer) this.#folded = null;
    this.#error = error;
    this.pause();
    this.#publish();
  }

  /** Starts CONNECTING. Its timer runs only while there are listeners: without them the list does not become OFFLINE. */
  #connect(): void {
    this.#connecting?.();
    const end = () => {
      this.#endConnecting();
      this.#publish();
    };
    const { after } = this.#core.environment;
    this.#connecting = this.#isWanted ? after(CONNECTING_MS, end) : () => {};
  }

  /** Restarts the time for CONNECTING at each step of a slow connection. */
  #progressed(): void {
    if (this.#connecting !== null && this.#isWanted) this.#connect();
  }

  #endConnecting(): void {
    this.#connecting?.();
    this.#connecting = null;
  }

  /** Opens or ends the subscription, whichever the state now asks for. */
  #settle(): void {
    const mayFollow = this.#isWanted && !this.#isOver && this.#retry === null;
    if (!mayFollow) {
      this.#closeSubscription();
      this.#publish();
    } else if (this.#subscription?.intervalMs !== this.#intervalMs) this.#openSubscription();
  }

  #openSubscription(): void {
    const before = this.#subscription;
    const intervalMs = this.#intervalMs;
    const subscription: LiveSubscription = { intervalMs, isFirst: true, end: () => {} };
    this.#subscription = subscription;
    const variables = () => ({
      after: this.#hasGap ? null : (this.#folded?.cursor ?? null),
      intervalMs,
      heartbeatSeconds: this.#core.heartbeatSeconds,
    });
    subscription.end = this.#core.subscribe(
      this.#source.operation,
      variables,
      this.#sinkOf(subscription),
    );
    // The former subscription ends after the new one has begun, so that their shared socket stays open.
    before?.end();
    // The core may have ended the subscription before it returned the function `end`.
    if (this.#subscription !== subscription) subscription.end();
  }

  #closeSubscription(): void {
    const subscription = this.#subscription;
    this.#subscription = null;
    this.#isFollowing = false;
    this.#stopPolling();
    subscription?.end();
  }

  /** Ignores events of a subscription that was replaced. */
  #sinkOf(subscription: LiveSubscription): OwnSink<Data> {
    const ifPresent = (task: () => void) => {
      if (this.#subscription === subscription) task();
    };
    return {
      next: (result) => ifPresent(() => this.#receive(subscription, result)),
      ended: (error) => ifPresent(() => this.#ended(error)),
      progressed: () => ifPresent(() => this.#progressed()),
      unreachable: () => ifPresent(() => this.#user.polling?.start()),
      connected: () =>
        ifPresent(() => {
          subscription.isFirst = true;
          this.#progressed();
        }),
      disconnected: (error) =>
        ifPresent(() => {
          if (error !== null) this.#error = error;
          // The core tries again by itself, without a limit.
          this.#isFollowing = false;
          this.#publish();
        }),
    };
  }

  #receive(subscription: LiveSubscription, { data, errors }: Result<Data>): void {
    if (data === null) {
      const [error = protocolError('An event without data.')] = errors;
      this.#error = error;
      this.#publish();
      return;
    }
    const event = this.#source.eventOf(data);
    const { isFirst } = subscription;
    const mayFold = event.snapshot || !this.#hasGap;
    let folded: Sum | null;
    try {
      folded = mayFold ? this.#source.fold(this.#folded, event, { isFirst }) : null;
    } catch (cause) {
      // Each further event would fail in the same way: it has the same fields, and the rows have the same key.
      const name = Object.keys(data as object);
      this.#error = protocolError(`${name}: ${messageOf(cause)}`, { cause });
      this.#isOver = true;
      this.#settle();
      return;
    }
    this.#hasGap = folded === null;
    if (folded === null) {
      this.#retryLater(null);
      return;
    }
    // Only the second event resets the count of failures, because a server may end each subscription after one event.
    if (!isFirst) this.#failures = 0;
    subscription.isFirst = false;
    this.#isRenewing = false;
    this.#folded = folded;
    this.#user.onConfirmed?.(folded.asOf);
    this.#isFollowing = true;
    this.#stopPolling();
    this.#error = errors[0] ?? null;
    this.#publish();
  }

  /** A polled list has no cursor to resume from: the next socket begins with a whole list. */
  receivePolled(polled: Sum | null, error: TradingGraphError | undefined): void {
    this.#isPolled = polled !== null;
    if (polled !== null) {
      this.#folded = polled;
      this.#hasGap = true;
      this.#user.onConfirmed?.(polled.asOf);
    }
    if (error !== undefined) this.#error = error;
    this.#publish();
  }

  #stopPolling(): void {
    this.#isPolled = false;
    this.#user.polling?.stop();
  }

  #ended(error: TradingGraphError | null): void {
    const cause = error ?? this.#error;
    this.#subscription = null;
    this.#error = cause;
    // The error may mean that the token has expired, so after the first error a new token is tried.
    this.#isOver = cause !== null && isFinal(cause, !this.#isRenewing);
    this.#isRenewing = true;
    if (this.#isOver) this.#settle();
    else this.#retryLater(cause?.retryAfter ?? null);
  }

  #retryLater(retryAfter: number | null): void {
    const { environment } = this.#core;
    this.#retry?.cancel();
    this.#endConnecting();
    const delayMs = backoffMs(this.#failures, environment.random, retryAfter ?? 0);
    this.#failures += 1;
    const cancel = environment.after(delayMs, () => {
      this.#retry = null;
      this.#settle();
    });
    this.#retry = { cancel, isDemanded: retryAfter !== null };
    this.#settle();
  }

  #forgetFailures(): void {
    this.#retry?.cancel();
    this.#retry = null;
    this.#failures = 0;
    this.#isRenewing = false;
  }

  #returned(): void {
    if (this.#retry?.isDemanded !== false) return;
    this.#retry.cancel();
    this.#retry = null;
    this.#settle();
  }

  /** Computes the state, and reports it if a property other than `asOf` has changed. */
  #publish(): void {
    const folded = this.#folded;
    const { nothing, shown } = this.#source;
    if (this.#isFollowing || this.#error !== null) this.#endConnecting();
    const isConnecting = this.#connecting !== null && folded === null;
    const unconnected = isConnecting ? 'CONNECTING' : 'OFFLINE';
    const status = folded !== null && this.isCurrent ? folded.status : unconnected;
    const values = folded === null ? nothing : shown(folded);
    const asOf = () => this.#folded?.asOf ?? null;
    const state = {
      ...values,
      status,
      error: this.#error,
      // A getter, because `asOf` changes with each event, and must not make a new state by itself.
      get asOf() {
        return asOf();
      },
      // The parts make a whole state, which the compiler cannot see after the spread.
    } as unknown as State;
    const names = Object.keys(state) as (keyof State)[];
    if (names.every((name) => state[name] === this.#state[name])) return;
    this.#state = state;
    this.#user.onChanged();
  }
}
