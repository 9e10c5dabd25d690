import { steadyClock } from '../lib/clock.ts';
import { parseLongIntegers } from '../lib/json.ts';
import {
  type Answer,
  type Caller,
  type Exchange,
  jsonOf,
  type Send,
  type WireCall,
} from './exchange.ts';
import type { Fields, Table, ValueOf } from './fields.ts';
import type { GatewayError } from './gateway-error.ts';
import { type Acknowledgement, contractError, judgeRead, judgeWrite } from './judge.ts';
import type { DescribedOperation } from './operation-traits.ts';
import type { CallValues, Requests } from './requests.ts';
import { type Reading, readingIn, type TimeUnit } from './scalars.ts';

export interface OperationSettings {
  readonly gatewayDirectionField: string;
  readonly gatewayMobileWallet: string;
  readonly gatewayTimeUnit: TimeUnit;
}

export interface CallsOptions extends OperationSettings {
  readonly send: Send;
  readonly requests: Requests;
  /** Called for each read or sign-in whose answer breaks the gateway's interface. */
  readonly onBroken: (operation: string) => void;
  /** Called after each answer with the fields that it lacks. */
  readonly onRead: (operation: string, reading: Reading) => void;
  /** Called with an error in the code of an order's operation. If the order was sent, its outcome is unknown. */
  readonly onOrderFailed: (operation: string, error: unknown) => void;
}

/** The calls of one run of an operation, such as one for each page of a list. They share its deadline and limit of bytes. */
export class Calls {
  readonly operation: DescribedOperation;
  readonly #caller: Caller;
  readonly #options: CallsOptions;
  /** Null before the first call. */
  #endsAtMs: number | null = null;
  #bytesLeft = 0;

  constructor(options: CallsOptions, operation: DescribedOperation, caller: Caller) {
    this.#options = options;
    this.operation = operation;
    this.#caller = caller;
  }

  get settings(): OperationSettings {
    return this.#options;
  }

  /** Sends one of the operation's calls. Throws at once if the call cannot be made. */
  protected exchange(name: string, values: CallValues): Promise<Exchange> {
    const { send, requests } = this.#options;
    return send(this.#bounded(requests.call(this.operation, name, this.#caller, values)));
  }

  /** The first call gets the operation's deadline and limit of bytes; later calls get the rest. */
  #bounded(call: WireCall): WireCall {
    if (this.#endsAtMs === null) {
      this.#endsAtMs = steadyClock.now() + call.deadlineMs;
      this.#bytesLeft = call.maxBytes;
      return call;
    }
    const deadlineMs = Math.max(1, this.#endsAtMs - steadyClock.now());
    return { ...call, deadlineMs, maxBytes: this.#bytesLeft };
  }

  protected countBytes({ bytes }: Answer): void {
    this.#bytesLeft = Math.max(0, this.#bytesLeft - bytes.length);
  }

  /** Throws if `read` returns null: the answer breaks the interface. Without numeric ids JSON.parse is faster. */
  value<T>(
    answer: Answer,
    expected: string,
    read: (body: unknown, reading: Reading) => T | null,
    parse: (text: string) => unknown = parseLongIntegers,
  ): T {
    const reading = readingIn(this.settings.gatewayTimeUnit);
    const value = read(jsonOf(answer, parse), reading);
    this.reportAbsent(reading);
    if (value === null) throw this.broken(`no ${expected}`);
    return value;
  }

  read<F extends Fields>(answer: Answer, table: Table<F>): ValueOf<F> {
    return this.value(answer, table.shape.name, table.read, JSON.parse);
  }

  /** Reports the fields that an answer lacks. */
  reportAbsent(reading: Reading): void {
    this.#options.onRead(this.operation.name, reading);
  }

  /** Counts an answer that breaks the interface, and returns its error. */
  broken(message: string): GatewayError {
    this.#options.onBroken(this.operation.name);
    return contractError(this.operation.name, message);
  }
}

export class ReadCalls<Name extends string = string> extends Calls {
  /** Resolves to an answer with a 2xx, or with a requested 304; otherwise throws a GatewayError. */
  async send(name: Name, values: CallValues = {}): Promise<Answer> {
    const answer = judgeRead(this.operation, await this.exchange(name, values));
    const isConditional = values.headers?.includes('if-none-match') === true;
    if (answer.status === 304 && !isConditional) throw this.broken('an unrequested 304');
    this.countBytes(answer);
    return answer;
  }
}

/** The calls of a small write, each of which is sent once. */
export class WriteCalls<Name extends string = string> extends Calls {
  send(name: Name, values: CallValues): Promise<Exchange> {
    return this.exchange(name, values);
  }

  /** Sends a write whose answer reports only whether it was done: by its body, or by its status if any body will do. */
  async acknowledged(name: Name, values: CallValues): Promise<Acknowledgement> {
    const isByStatus = this.operation.calls[name]?.answer.kind === 'any';
    return judgeWrite(this.operation, await this.exchange(name, values), isByStatus);
  }
}
