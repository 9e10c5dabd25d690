import { type FreshlyProvedAccount, type ProvedAccount, textOf } from '../lib/account.ts';
import type { Caller } from './caller.ts';
import { type CallsOptions, ReadCalls, WriteCalls } from './calls.ts';
import type {
  AccountReadOperation,
  AccountWriteOperation,
  InputOf,
  OrderOperation,
  ReadOperation,
  WriteOperation,
} from './define-operation.ts';
import { type OrderEnd, type OrderOptions, OrderRun } from './order-calls.ts';
import { type RequestSettings, Requests } from './requests.ts';

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
    return operation.runFor(calls, textOf(account.login), input as Input);
  }

  /** A write of another service for an account that this request has proved. */
  writeFor<Input, Result>(
    account: FreshlyProvedAccount,
    caller: Caller,
    operation: AccountWriteOperation<Input, Result>,
    input: Input,
  ): Promise<Result> {
    const calls = new WriteCalls(this.#calls, operation, caller);
    return operation.runFor(calls, textOf(account.login), input);
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
