import { pause, steadyClock, systemClock } from '../lib/clock.ts';
import type { Caller } from './caller.ts';
import type { CallsOptions, OperationSettings } from './calls.ts';
import { DeadlineError } from './errors.ts';
import type { Answer, Exchange, NoAnswer } from './exchange.ts';
import { judgeRead } from './judge.ts';
import { type DescribedOperation, TRADE } from './operation.ts';
import type { CallValues } from './requests.ts';
import { LATE_MS } from './transport.ts';

/** The answer by which an order is judged, and its parts. */
export interface OrderReply {
  readonly answer: Answer;
  readonly success: boolean | null;
  /** Null if it names no order, or if its number cannot be shown. */
  readonly orderId: string | null;
  /** Whether it names an order, even by a number that cannot be shown. */
  readonly namesOrder: boolean;
  readonly error: string | null;
  readonly message: string | null;
}

/** The end of an order: never sent, without an answer, or the answer by which it is judged. */
export type OrderEnd = Exclude<Exchange, Answer> | JudgedAnswer;
interface JudgedAnswer extends Answer {
  readonly reply: OrderReply;
}

/**
 * The calls of one order. An error before `trade` leaves the order unsent. After that only its own answer, or a look-up,
 * settles the order: an error or the deadline leaves it unknown.
 */
export interface OrderCalls<Name extends string = string> {
  readonly settings: OperationSettings;
  /**
   * `trade` is the one call that may trade. It is sent at most once; without an answer its promise never settles, so the
   * operation does not continue. Any other call is a look-up: a read, which is repeated if its answer is lost. It resolves
   * to a 2xx, and throws otherwise.
   */
  readonly send: (name: Name, values: CallValues) => Promise<Answer>;
  /** Waits between two look-ups. */
  readonly pause: (ms: number) => Promise<void>;
}

export interface OrderOptions {
  readonly sendBeforeMs?: number | null;
  /** Called with the end of an order that becomes known after its client was answered that the outcome is unknown. */
  readonly onLate?: ((end: OrderEnd) => void) | undefined;
}

interface OrderRunParts extends OrderOptions {
  readonly calls: CallsOptions;
  readonly operation: DescribedOperation;
  readonly caller: Caller;
}

/** One order from its first call to its end, which may follow its deadline. */
export class OrderRun implements OrderCalls {
  readonly #parts: OrderRunParts;
  readonly #startedAtMs = steadyClock.now();
  readonly #end = Promise.withResolvers<OrderEnd>();
  #hasTraded = false;
  /** The answer to the trading call; null until it arrives. */
  #traded: Answer | null = null;
  /** The error that the operation's `run` threw before the trading call was answered. */
  #failure: unknown = null;
  #endsAtMs = Number.POSITIVE_INFINITY;
  #hasEnded = false;
  #cancelDeadline = () => {};

  constructor(parts: OrderRunParts) {
    this.#parts = parts;
  }

  get settings(): OperationSettings {
    return this.#parts.calls;
  }

  /** Runs the operation, and resolves to its end. `onLate` receives a later end. */
  start(run: (calls: OrderCalls) => Promise<OrderReply>): Promise<OrderEnd> {
    const running = new Promise<OrderReply>((resolve) => resolve(run(this)));
    running.then(
      (reply) => this.#replied(reply),
      (error: unknown) => this.#failed(error),
    );
    return this.#end.promise;
  }

  readonly send = (name: string, values: CallValues): Promise<Answer> =>
    name === TRADE ? this.#trade(values) : this.#lookUp(name, values);

  readonly pause = (ms: number): Promise<void> => pause(steadyClock, ms);

  async #trade(values: CallValues): Promise<Answer> {
    const { operation, calls, caller, sendBeforeMs, onLate } = this.#parts;
    const isOver = this.#hasTraded || this.#hasEnded;
    if (isOver) throw new Error(`${operation.name} would trade twice, or after its end`);
    const call = calls.requests.call(operation, TRADE, caller, { ...values, sendBeforeMs });
    // Earlier look-ups count: the whole order has one deadline.
    this.#endsAtMs = this.#startedAtMs + call.deadlineMs;
    const deadlineMs = this.#endsAtMs - steadyClock.now();
    if (deadlineMs <= 0) throw new DeadlineError(call.deadlineMs);
    this.#hasTraded = true;
    const isReadOn = onLate !== undefined;
    const sent = calls.send({ ...call, deadlineMs, isReadOn });
    const exchange = await sent.catch((cause: unknown) => {
      // The order may have been sent before this service failed.
      calls.onOrderFailed(operation.name, cause);
      return unanswered(cause);
    });
    if (exchange.sent && exchange.answered) return this.#answered(exchange);
    this.#ended(exchange);
    const late = exchange.sent ? await exchange.late : undefined;
    if (late?.sent && late.answered) return this.#answered(late);
    if (late !== undefined) this.#ended(late);
    // There is no answer, so the operation's `run` must not continue.
    return new Promise(() => {});
  }

  #answered(answer: Answer): Answer {
    this.#traded = answer;
    if (this.#failure !== null) this.#ended(unsettled(answer, this.#failure));
    else if (!this.#hasEnded) {
      // At the deadline the client gets the outcome unknown; the operation's `run` continues its look-ups.
      const restMs = Math.max(0, this.#endsAtMs - steadyClock.now());
      const late = new DeadlineError(this.#endsAtMs - this.#startedAtMs);
      this.#cancelDeadline = steadyClock.after(restMs, () => this.#ended(unsettled(answer, late)));
    }
    return answer;
  }

  async #lookUp(name: string, values: CallValues): Promise<Answer> {
    const { operation, calls, caller, onLate } = this.#parts;
    const call = calls.requests.call(operation, name, caller, values);
    const graceMs = onLate === undefined ? 0 : LATE_MS;
    const leftMs = this.#endsAtMs + graceMs - steadyClock.now();
    if (leftMs <= 0) throw new DeadlineError(this.#endsAtMs - this.#startedAtMs);
    const deadlineMs = Math.min(call.deadlineMs, leftMs);
    // A client that disconnects does not end a look-up: the outcome is recorded.
    return judgeRead(operation.name, await calls.send({ ...call, deadlineMs, signal: undefined }));
  }

  #replied(reply: OrderReply): void {
    const traded = this.#traded;
    if (traded === null) this.#failed(new Error('it has not waited for its trading call'));
    else if (reply.answer === traded) this.#ended({ ...traded, reply });
    else if (reply.success === null) this.#failed(new Error('its look-up says nothing'));
    else this.#ended(foundBy(reply, traded));
  }

  #failed(cause: unknown): void {
    this.#parts.calls.onOrderFailed(this.#parts.operation.name, cause);
    if (!this.#hasTraded) this.#ended({ sent: false, cause });
    else if (this.#traded === null) this.#failure = cause;
    else this.#ended(unsettled(this.#traded, cause));
  }

  #ended(end: OrderEnd): void {
    this.#cancelDeadline();
    if (this.#hasEnded) this.#parts.onLate?.(end);
    else this.#end.resolve(end);
    this.#hasEnded = true;
  }
}

/** The end that a look-up has found. It keeps the time when the trading call was sent. A rejection has no order number. */
function foundBy(reply: OrderReply, { sentAtMs, logicalTime }: Answer): JudgedAnswer {
  const settledReply = reply.success ? reply : { ...reply, orderId: null, namesOrder: false };
  return { ...reply.answer, sentAtMs, logicalTime, reply: settledReply };
}

/** The gateway has received the order, but nothing shows its outcome. */
function unsettled({ sentAtMs, logicalTime }: Answer, cause: unknown): NoAnswer {
  const reason = cause instanceof DeadlineError ? 'timeout' : 'protocol';
  return { sent: true, answered: false, reason, cause, sentAtMs, logicalTime };
}

/** The end of an order whose answer was lost by an error of this service. */
function unanswered(cause: unknown): NoAnswer {
  const sentAtMs = systemClock.now();
  return { sent: true, answered: false, reason: 'protocol', cause, sentAtMs, logicalTime: 0 };
}
