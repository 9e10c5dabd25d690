import type { Login } from '../lib/account.ts';
import { FairScheduler } from '../lib/fair-scheduler.ts';
import { promised } from '../lib/maybe-promise.ts';
import type { CatalogAnswer, PositionsAnswer, SessionAnswer } from './answers.ts';
import type { Caller } from './caller.ts';
import { type CallsOptions, ReadCalls, WriteCalls } from './calls.ts';
import type { InputOf, ReadOperation, WriteOperation } from './define-operation.ts';
import type { Acknowledgement, SignIn } from './judge.ts';
import type { MarketOrder } from './operations/open-position.ts';
import type { LimitOrder } from './operations/place-limit-order.ts';
import { OPERATIONS, type WriteInput, type WriteName } from './operations.ts';
import { type OrderEnd, type OrderOperation, type OrderOptions, OrderRun } from './order-calls.ts';
import { type RequestSettings, RequestTemplates } from './request-templates.ts';

export interface GatewayClientOptions
  extends RequestSettings,
    Omit<CallsOptions, 'templates' | 'turns' | 'onBroken' | 'onRead'>,
    Partial<Pick<CallsOptions, 'turns' | 'onBroken' | 'onRead'>> {
  /** Called with what the file of an order threw, which leaves the order unknown once it was sent. */
  readonly onOrderFailed?: (operation: string, error: unknown) => void;
}

export type GatewayClient = ReturnType<typeof createGatewayClient>;

/** The gateway's operations: `read` for those of a viewer alone, a function for each other. Reads throw a GatewayError. */
export function createGatewayClient(options: GatewayClientOptions) {
  const calls: CallsOptions = {
    turns: new FairScheduler(),
    onBroken() {},
    onRead() {},
    ...options,
    templates: new RequestTemplates(options),
  };

  function read<Input, Result>(
    caller: Caller,
    operation: ReadOperation<Input, Result>,
    ...[input]: InputOf<Input>
  ): Promise<Result> {
    return promised(() => operation.run(new ReadCalls(calls, operation, caller), input as Input));
  }

  function write<Input, Result>(
    caller: Caller,
    operation: WriteOperation<Input, Result>,
    input: Input,
  ): Promise<Result> {
    return promised(() => operation.run(new WriteCalls(calls, operation, caller), input));
  }

  /** Never rejects: what is thrown before its trading call leaves the order unsent, and later unknown. */
  function order<Input>(
    caller: Caller,
    operation: OrderOperation<Input>,
    input: Input,
    details: OrderOptions = {},
  ): Promise<OrderEnd> {
    return new Promise((onEnd) => {
      const { onOrderFailed: onFailed = () => {} } = options;
      new OrderRun({ ...details, calls, operation, caller, onEnd, onFailed }).start(
        operation,
        input,
      );
    });
  }

  return {
    read,
    order,
    getAllTickers: (caller: Caller, group: string, etag: string | null): Promise<CatalogAnswer> =>
      read(caller, OPERATIONS.getAllTickers, { group, etag }),
    login: (caller: Caller, email: string, password: string): Promise<SignIn> =>
      write(caller, OPERATIONS.login, { email, password }),
    write<Name extends WriteName>(
      caller: Caller,
      name: Name,
      input: WriteInput<Name>,
    ): Promise<Acknowledgement> {
      const operation: WriteOperation<never, Acknowledgement> = OPERATIONS[name];
      return write(caller, operation, input as never);
    },
    openPosition: (caller: Caller, given: MarketOrder, details?: OrderOptions) =>
      order(caller, OPERATIONS.openPosition, given, details),
    placeLimitOrder: (caller: Caller, given: LimitOrder, details?: OrderOptions) =>
      order(caller, OPERATIONS.placeLimitOrder, given, details),
    /** `onOwned` is called with the group of a snapshot that is this login's, whatever is in its lists. */
    getSession: (
      caller: Caller,
      login: Login,
      onOwned: (group: string | null) => void = () => {},
    ): Promise<SessionAnswer> => read(caller, OPERATIONS.getSession, { login, onOwned }),
    /** Memoized: a body of the same hash has equal positions. */
    getOpenPositions: (
      caller: Caller,
      previous: PositionsAnswer | null,
    ): Promise<PositionsAnswer> => read(caller, OPERATIONS.getOpenPositions, previous),
  };
}
