import type { OperationSettings } from '../gateway/calls.ts';
import { GatewayClient } from '../gateway/client.ts';
import type { ReadOperation, WriteOperation } from '../gateway/define-operation.ts';
import { type Exchange, jsonOf, type WireCall } from '../gateway/exchange.ts';
import { isSuccess } from '../gateway/judge.ts';
import { type DescribedOperation, isSignIn } from '../gateway/operation-traits.ts';
import type { RequestSettings } from '../gateway/requests.ts';
import type { TimeUnit } from '../gateway/scalars.ts';
import { gatewayWidths, Pools, Transport } from '../gateway/transport.ts';
import { LogicalClock } from '../lib/clock.ts';
import { isObject } from '../lib/json.ts';
import { toToken } from '../lib/limits/request-caller.ts';
import { type Comparison, compare } from './comparison.ts';

interface ProbeOptions extends RequestSettings, OperationSettings {
  readonly url: string;
}

export interface Recorded {
  readonly call: WireCall;
  readonly exchange: Exchange;
}

/** An operation that has ended, with the calls that it made. */
export interface Probed<Result> {
  readonly recorded: readonly Recorded[];
  readonly ms: number;
  /** Null if the operation failed. */
  readonly result: Result | null;
  readonly error: unknown;
}

/** One comparison for each call of the operation. The pages of one list are compared together. */
export function comparisonsOf(
  operation: DescribedOperation,
  { recorded }: Probed<unknown>,
  unit: TimeUnit,
): Comparison[] {
  return Object.values(operation.calls).flatMap((description) => {
    const own = recorded.filter(({ call }) => call.description === description);
    const answers = own.flatMap(({ exchange }) => successIn(operation, exchange));
    return answers.length === 0 ? [] : [compare(description.answer, answers, unit)];
  });
}

/** The JSON of a 2xx. A sign-in that a 200 refuses does not count. */
function successIn(operation: DescribedOperation, exchange: Exchange): unknown[] {
  if (!exchange.sent || !exchange.answered || !isSuccess(exchange.status)) return [];
  const json = jsonOf(exchange);
  const isRefusedSignIn = isSignIn(operation) && isObject(json) && 'error' in json;
  return json === undefined || isRefusedSignIn ? [] : [json];
}

/** Runs operations one at a time, like the service but without retries and breakers, and records their calls. */
export class Probe implements AsyncDisposable {
  /** The path of the gateway's address. */
  readonly prefix: string;
  readonly #pools: Pools;
  readonly #client: GatewayClient;
  #recorded: Recorded[] = [];

  constructor(options: ProbeOptions) {
    this.#pools = new Pools(options.url, gatewayWidths(1), options.gatewayTimeoutMs);
    this.prefix = this.#pools.prefix;
    const transport = new Transport(this.#pools, new LogicalClock());
    this.#client = new GatewayClient({
      ...options,
      send: async (call) => {
        const exchange = await transport.send(call);
        this.#recorded.push({ call, exchange });
        return exchange;
      },
      onBroken() {},
      onRead() {},
      onOrderFailed() {},
    });
  }

  read<Input, Result>(
    operation: ReadOperation<Input, Result>,
    input: Input,
    token: string | null,
  ): Promise<Probed<Result>> {
    const caller = { token: token === null ? null : toToken(token) };
    return this.#probed(() =>
      this.#client.read(caller, operation as ReadOperation<unknown, Result>, input),
    );
  }

  write<Input, Result>(
    operation: WriteOperation<Input, Result>,
    input: Input,
  ): Promise<Probed<Result>> {
    return this.#probed(() => this.#client.write({ token: null }, operation, input));
  }

  async #probed<Result>(run: () => Promise<Result>): Promise<Probed<Result>> {
    this.#recorded = [];
    const startedAt = performance.now();
    const end = await run().then(
      (result) => ({ result, error: null }),
      (error: unknown) => ({ result: null, error }),
    );
    return { ...end, recorded: this.#recorded, ms: performance.now() - startedAt };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pools.close();
  }
}
