import { type FreshlyProvedAccount, LOGIN, type ProvedAccount, textOf } from '../lib/account.ts';
import { pause, steadyClock, systemClock, within } from '../lib/clock.ts';
import { fireAndForget } from '../lib/fire-and-forget.ts';
import { type CallsOptions, ReadCalls, WriteCalls } from './calls.ts';
import type {
  AccountReadOperation,
  AccountWriteOperation,
  InputOf,
  LookUps,
  OrderOperation,
  OrderReply,
  ReadOperation,
  WriteOperation,
} from './define-operation.ts';
import type { Answer, Caller, Exchange, NoAnswer } from './exchange.ts';
import { DeadlineError } from './gateway-error.ts';
import { judgeRead } from './judge.ts';
import { TRADE } from './operation-traits.ts';
import { type CallValues, type RequestSettings, Requests } from './requests.ts';
import { LATE_MS } from './transport.ts';

export interface GatewayClientOptions extends RequestSettings, Omit<CallsOptions, 'requests'> {}

export class GatewayClient {
  readonly #calls: CallsOptions;

  constructor(options: GatewayClientOptions) {
    this.#calls = { ...options, requests: new Requests(options) };
  }

  /** Rejects with a GatewayError. */
  read<Input, Result>(
    caller: Caller,
    operation: ReadOperation<Input, Result>,
    ...[input]: InputOf<Input>
  ): Promise<Result> {
    return operation.run(new ReadCalls(this.#calls, operation, caller), input as Input);
  }

  write<Input, Result>(
    caller: Caller,
    operation: WriteOperation<Input, Result>,
    input: Input,
  ): Promise<Result> {
    return operation.run(new WriteCalls(this.#calls, operation, caller), input);
  }

  /** A read of another service about a proved account. */
  readFor<Input, Result>(
    account: ProvedAccount,
    caller: Caller,
    operation: AccountReadOperation<Input, Result>,
    ...[input]: InputOf<Input>
  ): Promise<Result> {
    const calls = new ReadCalls(this.#calls, operation, caller);
    return operation.runFor(calls, loginFor(account, caller), input as Input);
  }

  /** A write of another service for an account that this request has proved. */
  writeFor<Input, Result>(
    account: FreshlyProvedAccount,
    caller: Caller,
    operation: AccountWriteOperation<Input, Result>,
    input: Input,
  ): Promise<Result> {
    const calls = new WriteCalls(this.#calls, operation, caller);
    return operation.runFor(calls, loginFor(account, caller), input);
  }

  /** Never rejects. An error before the trading call leaves the order unsent; a later error leaves it unknown. */
  order<Input>(
    caller: Caller,
    operation: OrderOperation<Input>,
    input: Input,
    options: OrderOptions = {},
  ): Promise<OrderEnd> {
    return new OrderRun({ ...options, calls: this.#calls, operation, caller, input }).run();
  }
}

/** The proved login. Throws if another request has left its proof behind: the caller would act for that account. */
function loginFor({ tokenHash, [LOGIN]: login }: ProvedAccount, { token }: Caller): string {
  if (tokenHash !== token?.hash) throw new Error('the proof is of another token');
  return textOf(login);
}

/** The end of an order: never sent, without an answer, or the answer by which it is judged. */
export type OrderEnd = Exclude<Exchange, Answer> | JudgedAnswer;
interface JudgedAnswer extends Answer {
  readonly reply: OrderReply;
}

export interface OrderOptions {
  readonly sendBeforeMs?: number | null;
  /** Called with an end that became known only after the client was answered that the outcome is unknown. */
  readonly onLate?: ((end: OrderEnd) => void) | undefined;
}

interface OrderRunParts<Input> extends OrderOptions {
  readonly calls: CallsOptions;
  readonly operation: OrderOperation<Input>;
  readonly caller: Caller;
  readonly input: Input;
}

/** One order, from its trading call to its end. The look-ups share its deadline. */
class OrderRun<Input> implements LookUps {
  readonly #parts: OrderRunParts<Input>;
  #deadlineMs = 0;
  #endsAtMs = 0;

  constructor(parts: OrderRunParts<Input>) {
    this.#parts = parts;
  }

  /** Sends the order once, and resolves to its end. `onLate` receives a later end. */
  async run(): Promise<OrderEnd> {
    const exchange = await this.#trade();
    if (exchange.sent && exchange.answered) return this.#judgedInTime(exchange);
    if (exchange.sent && exchange.late !== undefined) {
      this.#reportLate(exchange.late.then((late) => this.#judgedIfAnswered(late)));
    }
    return exchange;
  }

  async send(name: string, values: CallValues): Promise<Answer> {
    const { operation, calls, caller, onLate } = this.#parts;
    if (name === TRADE) throw new Error('an order is sent once, so no look-up may trade');
    const call = calls.requests.call(operation, name, caller, values);
    const graceMs = onLate === undefined ? 0 : LATE_MS;
    const leftMs = this.#endsAtMs + graceMs - steadyClock.now();
    if (leftMs <= 0) throw new DeadlineError(this.#deadlineMs);
    const deadlineMs = Math.min(call.deadlineMs, leftMs);
    return judgeRead(operation, await calls.send({ ...call, deadlineMs }));
  }

  pause(ms: number): Promise<void> {
    return pause(steadyClock, ms);
  }

  async #trade(): Promise<Exchange> {
    const { operation, calls, caller, input, sendBeforeMs, onLate } = this.#parts;
    let mayBeSent = false;
    try {
      const values = operation.trade(input, calls);
      const call = calls.requests.call(operation, TRADE, caller, values);
      this.#deadlineMs = call.deadlineMs;
      this.#endsAtMs = steadyClock.now() + call.deadlineMs;
      mayBeSent = true;
      const readsLateAnswer = onLate !== undefined;
      return await calls.send({
        ...call,
        readsLateAnswer,
        sendBeforeMs: sendBeforeMs ?? undefined,
      });
    } catch (cause) {
      calls.onOrderFailed(operation.name, cause);
      return mayBeSent ? unanswered(cause) : { sent: false, cause };
    }
  }

  /** At the deadline the outcome is unknown, and the look-ups continue. */
  async #judgedInTime(answer: Answer): Promise<OrderEnd> {
    const judged = this.#judged(answer);
    const end = await within(steadyClock, this.#endsAtMs - steadyClock.now(), judged);
    if (end !== null) return end;
    this.#reportLate(judged);
    return unsettled(answer, new DeadlineError(this.#deadlineMs));
  }

  #judgedIfAnswered(exchange: Exchange): OrderEnd | Promise<OrderEnd> {
    return exchange.sent && exchange.answered ? this.#judged(exchange) : exchange;
  }

  /** After the gateway's answer, an error leaves the order unknown. */
  async #judged(answer: Answer): Promise<OrderEnd> {
    const { calls, operation } = this.#parts;
    try {
      const reply = await operation.reply(answer, this);
      if (reply.answer === answer) return { ...answer, reply };
      if (reply.success === null) throw new Error('the look-up of the order shows no outcome');
      return foundBy(reply, answer);
    } catch (cause) {
      calls.onOrderFailed(operation.name, cause);
      return unsettled(answer, cause);
    }
  }

  #reportLate(end: Promise<OrderEnd>): void {
    fireAndForget('late answer', end.then(this.#parts.onLate));
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

/** The end of an order that may have been sent before this service failed. */
function unanswered(cause: unknown): NoAnswer {
  const sentAtMs = systemClock.now();
  return { sent: true, answered: false, reason: 'protocol', cause, sentAtMs, logicalTime: 0 };
}
