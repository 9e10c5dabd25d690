import { callApp } from '../call-app.ts';
import type { OwnSink, Result } from '../core.ts';
import type { Environment } from '../environment.ts';
import type { TradingGraphError } from '../errors.ts';
import { backoffMs } from '../request/backoff.ts';
import type { RequestedDocument } from '../request/document.ts';
import { asTradingGraphError, protocolError } from '../request/failures.ts';
import { sentVariables } from '../request/finite-variables.ts';
import type { SubscribeRequest } from './transport.ts';

/** One subscription of the app. If its transport is lost, the subscription continues over another one. */
export class Subscription {
  readonly #document: RequestedDocument;
  readonly #variables: () => unknown;
  readonly #sink: OwnSink<unknown>;
  readonly #environment: Environment;
  /**
   * The last answer, if it has errors and no data. It is held back: if the server now ends the subscription, the answer's
   * error is the reason. If another answer comes, the app first gets this answer.
   */
  #failed: Result<unknown> | null = null;
  #isConnected = false;
  /** Why no transport could be opened, as last reported to the app. The same message is not reported twice in a row. */
  #reportedReason = '';
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

  /** The request to send. If the app's variables cannot be sent, the subscription ends, and the result is null. */
  request(): SubscribeRequest | null {
    this.#failed = null;
    let variables: unknown;
    let hasVariables = false;
    this.#call(() => {
      variables = this.#variables();
      hasVariables = true;
    });
    try {
      if (!hasVariables) throw protocolError('The function for the variables has failed.');
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

  /** The error with which the server has ended the subscription; null if there is none. */
  reason(errors: readonly TradingGraphError[]): TradingGraphError | null {
    return errors[0] ?? this.#failed?.errors[0] ?? null;
  }

  connected(): void {
    if (this.#isConnected || this.isOver) return;
    this.#isConnected = true;
    this.#reportedReason = '';
    this.#call(() => this.#sink.connected?.());
  }

  disconnected(error: TradingGraphError | null = null): void {
    if (!this.#isConnected || this.isOver) return;
    this.#isConnected = false;
    this.#call(() => this.#sink.disconnected?.(error));
  }

  /** Reports why no transport could be opened, unless the last report had the same message. */
  failing(error: TradingGraphError): void {
    if (this.isOver || this.#reportedReason === error.message) return;
    this.#reportedReason = error.message;
    this.#call(() => this.#sink.disconnected?.(error));
  }

  /** The socket has made progress, but has no acknowledgement yet. */
  progressed(): void {
    if (!this.isOver) this.#call(() => this.#sink.progressed?.());
  }

  /** Sockets cannot be opened for now. */
  unreachable(): void {
    if (!this.isOver) this.#call(() => this.#sink.unreachable?.());
  }

  /** Notes how to end the subscription on its present transport. */
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

  /** Ends the subscription without a call of `ended`, because the app itself has ended it. */
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
