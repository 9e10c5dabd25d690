import type { Caller } from './caller.ts';
import { type CallsOptions, ReadCalls, WriteCalls } from './calls.ts';
import type { InputOf, OrderOperation, ReadOperation, WriteOperation } from './define-operation.ts';
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
