import { pause, steadyClock } from '../lib/clock.ts';
import type { Caller } from './caller.ts';
import type { CallsOptions, OperationSettings } from './calls.ts';
import { DeadlineError } from './errors.ts';
import type { Answer, Exchange, NoAnswer } from './exchange.ts';
import { judgeRead } from './judge.ts';
import { type DescribedOperation, TRADE } from './operation.ts';
import type { CallValues } from './request-templates.ts';
import { LATE_MS } from './transport.ts';

/** The answer by which an order is judged, and its parts. */
export interface OrderReply {
  readonly answer: Answer;
  readonly success: boolean | null;
  /** Null where it names no order, and where its number cannot be shown. */
  readonly orderId: string | null;
  /** Whether it names an order, even by a number that cannot be shown. */
  readonly namesOrder: boolean;
  readonly error: string | null;
  readonly message: string | null;
}

/** An order's end: never sent, without an answer, or the answer by which it is judged. */
export type OrderEnd = Exclude<Exchange, Answer> | JudgedAnswer;
interface JudgedAnswer extends Answer {
  readonly reply: OrderReply;
}

/**
 * The calls of one order. An error before `trade` leaves the order unsent. From then on only its own answer, or a look-up, settles
 * the order: an error, or the deadline, leaves it unknown.
 */
export interface OrderCalls<Name extends string = string> {
  readonly settings: OperationSettings;
  /**
   * `trade` is the one call that may trade: it is sent once, never again, and resolves only to an answer. Any other is a look-up: a
   * read, repeated where its answer is lost, which resolves to the answer of a 2xx, and throws for any other end.
   */
  readonly send: (name: Name, values: CallValues) => Promise<Answer>;
  /** Waits between two look-ups. */
  readonly pause: (ms: number) => Promise<void>;
}

export interface OrderOptions {
  readonly sendBeforeMs?: number | null;
  /** Called with a later end of an order whose client was told that the outcome is unknown. */
  readonly onLate?: ((end: OrderEnd) => void) | undefined;
}

interface OrderRunParts extends OrderOptions {
  readonly calls: CallsOptions;
  readonly operation: DescribedOperation;
  readonly caller: Caller;
  readonly onEnd: (end: OrderEnd) => void;
}

/** One order from its first call to its end, which may come after its deadline. */
export class OrderRun implements OrderCalls {
  readonly #parts: OrderRunParts;
  readonly #startedAtMs = steadyClock.now();
  #hasTraded = false;
  /** The answer to the trading call; null before it came. */
  #traded: Answer | null = null;
  /** The error that the file threw before the trading call was answered. */
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

  /** Runs the operation. `onEnd` is called with its end, `onLate` with a later one. */
  start(run: (calls: OrderCalls) => Promise<OrderReply>): void {
    const running = new Promise<OrderReply>((resolve) => resolve(run(this)));
    running.then(
      (reply) => this.#replied(reply),
      (error: unknown) => this.#failed(error),
    );
  }

  readonly send = (name: string, values: CallValues): Promise<Answer> =>
    name === TRADE ? this.#trade(values) : this.#lookUp(name, values);

  readonly pause = (ms: number): Promise<void> => pause(steadyClock, ms);

  #trade(values: CallValues): Promise<Answer> {
    const { operation, calls, caller, sendBeforeMs, onLate } = this.#parts;
    return new Promise((answered) => {
      const isOver = this.#hasTraded || this.#hasEnded;
      if (isOver) throw new Error(`${operation.name} would trade twice, or after its end`);
      const call = calls.templates.call(operation, TRADE)(caller, { ...values, sendBeforeMs });
      // Look-ups before it count: the whole order has one deadline.
      this.#endsAtMs = this.#startedAtMs + call.deadlineMs;
      const deadlineMs = this.#endsAtMs - steadyClock.now();
      if (deadlineMs <= 0) throw new DeadlineError(call.deadlineMs);
      const late = onLate && ((exchange: Exchange) => this.#ended(exchange, answered));
      this.#hasTraded = true;
      calls.send({ ...call, deadlineMs, onLate: late }, (exchange) =>
        this.#ended(exchange, answered),
      );
    });
  }

  #ended(exchange: Exchange, answered: (answer: Answer) => void): void {
    if (!exchange.sent || !exchange.answered) {
      this.#end(exchange);
      return;
    }
    this.#traded = exchange;
    if (this.#failure !== null) {
      this.#end(unsettled(exchange, this.#failure));
      return;
    }
    if (!this.#hasEnded) {
      // The client gets the unknown outcome at the deadline; the file goes on with its look-ups.
      const restMs = Math.max(0, this.#endsAtMs - steadyClock.now());
      const late = new DeadlineError(this.#endsAtMs - this.#startedAtMs);
      this.#cancelDeadline = steadyClock.after(restMs, () => this.#end(unsettled(exchange, late)));
    }
    answered(exchange);
  }

  #lookUp(name: string, values: CallValues): Promise<Answer> {
    const { operation, calls, caller, onLate } = this.#parts;
    return new Promise((resolve, reject) => {
      const call = calls.templates.call(operation, name)(caller, values);
      const graceMs = onLate === undefined ? 0 : LATE_MS;
      const leftMs = this.#endsAtMs + graceMs - steadyClock.now();
      if (leftMs <= 0) throw new DeadlineError(this.#endsAtMs - this.#startedAtMs);
      const deadlineMs = Math.min(call.deadlineMs, leftMs);
      // A client that leaves ends no look-up: the outcome is recorded.
      calls.send({ ...call, deadlineMs, signal: undefined }, (exchange) => {
        try {
          resolve(judgeRead(operation.name, exchange));
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  #replied(reply: OrderReply): void {
    const traded = this.#traded;
    if (traded === null) this.#failed(new Error('it has not waited for its trading call'));
    else if (reply.answer === traded) this.#end({ ...traded, reply });
    else if (reply.success === null) this.#failed(new Error('its look-up says nothing'));
    else this.#end(foundBy(reply, traded));
  }

  #failed(cause: unknown): void {
    this.#parts.calls.onOrderFailed(this.#parts.operation.name, cause);
    if (!this.#hasTraded) this.#end({ sent: false, cause });
    else if (this.#traded === null) this.#failure = cause;
    else this.#end(unsettled(this.#traded, cause));
  }

  #end(end: OrderEnd): void {
    this.#cancelDeadline();
    const { onEnd, onLate } = this.#parts;
    const isLate = this.#hasEnded;
    this.#hasEnded = true;
    if (isLate) onLate?.(end);
    else onEnd(end);
  }
}

/** The end of an order by a look-up. It was sent when its trading call was; a rejection names no order to look for. */
function foundBy(reply: OrderReply, { sentAtMs, logicalTime }: Answer): JudgedAnswer {
  const said = reply.success ? reply : { ...reply, orderId: null, namesOrder: false };
  return { ...reply.answer, sentAtMs, logicalTime, reply: said };
}

/** The gateway has the order, and nothing says what became of it. */
function unsettled({ sentAtMs, logicalTime }: Answer, cause: unknown): NoAnswer {
  const reason = cause instanceof DeadlineError ? 'timeout' : 'protocol';
  return { sent: true, answered: false, reason, cause, sentAtMs, logicalTime };
}
