import { callApp } from '../call-app.ts';
import type { OwnSink, Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import { backoffMs } from '../request/backoff.ts';
import type { RequestedDocument } from '../request/document.ts';
import { asTradingGraphError, protocolError } from '../request/failures.ts';
import { sentVariables } from '../request/finite-variables.ts';
import type { SubscribeRequest } from './transport.ts';

/** One subscription of the app's, over all the transports that carry it. */
export class Subscription {
  readonly #document: RequestedDocument;
  readonly #variables: () => unknown;
  readonly #sink: OwnSink<unknown>;
  readonly #environment: Environment;
  /** An answer without data: it may be the reason of the end that follows. */
  #failed: Result<unknown> | null = null;
  #isConnected = false;
  /** The last reason why no transport could be opened. */
  #told = '';
  /** Failures since the last data. */
  #failures = 0;
  isOver = false;
  #leave: () => void = () => {};

  constructor(
    document: RequestedDocument,
    variables: () => unknown,
    { sink, environment }: { sink: OwnSink<unknown>; environment: Environment },
  ) {
    this.#document = document;
    this.#variables = variables;
    this.#sink = sink;
    this.#environment = environment;
  }

  /** Null where there are no variables that can be sent, which ends the subscription. */
  request(): SubscribeRequest | null {
    this.#failed = null;
    let variables: unknown;
    let hasAny = false;
    this.#call(() => {
      variables = this.#variables();
      hasAny = true;
    });
    try {
      if (!hasAny) throw protocolError('The variables of the subscription cannot be had.');
      return { document: this.#document, variables: sentVariables(variables) };
    } catch (thrown) {
      this.end(asTradingGraphError(thrown));
      return null;
    }
  }

  next(result: Result<unknown>): void {
    const failed = this.#failed;
    this.#failed = null;
    if (failed !== null) this.#call(() => this.#sink.next(failed));
    if (this.isOver) return;
    if (result.data === null && result.errors.length > 0) {
      this.#failed = result;
      return;
    }
    this.#failures = 0;
    this.#call(() => this.#sink.next(result));
  }

  /** Why the server has ended it; null where there is no error. */
  reason(errors: readonly TradingGraphError[]): TradingGraphError | null {
    return errors[0] ?? this.#failed?.errors[0] ?? null;
  }

  connected(): void {
    if (this.#isConnected || this.isOver) return;
    this.#isConnected = true;
    this.#told = '';
    this.#call(() => this.#sink.connected?.());
  }

  disconnected(error: TradingGraphError | null = null): void {
    if (!this.#isConnected || this.isOver) return;
    this.#isConnected = false;
    this.#call(() => this.#sink.disconnected?.(error));
  }

  /** No transport could be opened for it. Each reason is reported once. */
  failing(error: TradingGraphError): void {
    if (this.isOver || this.#told === error.message) return;
    this.#told = error.message;
    this.#call(() => this.#sink.disconnected?.(error));
  }

  /** Its socket has come further, and is not acknowledged yet. */
  progressed(): void {
    if (!this.isOver) this.#call(() => this.#sink.progressed?.());
  }

  /** No socket opens here for now. */
  unreachable(): void {
    if (!this.isOver) this.#call(() => this.#sink.unreachable?.());
  }

  /** Notes how to end it on the transport that carries it now. */
  carriedBy(leave: () => void): void {
    this.#leave = leave;
  }

  /** Ends what is under way: the subscription on its transport, or the pause until it begins again. */
  leave(): void {
    const leave = this.#leave;
    this.#leave = () => {};
    leave();
  }

  /** Waits after a retryable error, longer after each one, before the subscription is started again. */
  pause(error: TradingGraphError, startAgain: () => void): void {
    this.disconnected(error);
    const environment = this.#environment;
    const delayMs = backoffMs(this.#failures, environment.random, error.retryAfter ?? 0);
    this.#failures += 1;
    this.#leave = environment.after(delayMs, () => {
      this.#leave = () => {};
      startAgain();
    });
  }

  end(error: TradingGraphError | null): void {
    if (this.isOver) return;
    this.cancel();
    this.#call(() => this.#sink.ended(error));
  }

  /** Ends it without a word to the app, which has asked for it. */
  cancel(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.leave();
  }

  // An error thrown by the app's own code must not close the connection that other subscriptions share.
  #call(notify: () => void): void {
    callApp(this.#environment, notify);
  }
}
