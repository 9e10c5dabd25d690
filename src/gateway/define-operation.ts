import type { OperationSettings, ReadCalls, WriteCalls } from './calls.ts';
import type { Answer } from './exchange.ts';
import type { CallDescription, DescribedOperation, TRADE } from './operation-traits.ts';
import type { CallValues } from './requests.ts';

/** `run` makes the calls, reads their answers, and resolves to the operation's result. */
export interface ReadOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'read';
  readonly run: (calls: ReadCalls, input: Input) => Promise<Result>;
}

export interface WriteOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'write';
  readonly run: (calls: WriteCalls, input: Input) => Promise<Result>;
}

/**
 * A read or a write of another service about an account, with this service's credentials. `runFor` gets the login from the
 * account's proof, so that no input can name another account.
 */
export interface AccountReadOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'read';
  readonly runFor: (calls: ReadCalls, login: string, input: Input) => Promise<Result>;
}

export interface AccountWriteOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'write';
  readonly runFor: (calls: WriteCalls, login: string, input: Input) => Promise<Result>;
}

export interface OrderOperation<Input> extends DescribedOperation, OrderFunctions<Input> {
  readonly effect: 'order';
}

interface OrderFunctions<Input, Name extends string = string> {
  /** The values of the call `trade`, which is sent once. An error leaves the order unsent. */
  readonly trade: (input: Input, settings: OperationSettings) => CallValues;
  /** Reads the answer to that call, or looks the outcome up. An error leaves the order unknown. */
  readonly reply: (answer: Answer, lookUps: LookUps<Name>) => OrderReply | Promise<OrderReply>;
}

/** The answer by which an order is judged, and its parts. */
export interface OrderReply {
  readonly answer: Answer;
  readonly success: boolean | null;
  /** Null if the answer names no order, or if the order's number has lost digits (a JSON number that is not exact). */
  readonly orderId: string | null;
  /** Whether the answer names an order, even by a number for which `orderId` is null. */
  readonly namesOrder: boolean;
  readonly error: string | null;
  readonly message: string | null;
}

/** The calls by which an order looks for its outcome, if the answer to its trading call does not show it. */
export interface LookUps<Name extends string = string> {
  /** Sends a read, which is repeated if its answer is lost. Resolves to a 2xx, and throws otherwise. */
  send(name: Name, values: CallValues): Promise<Answer>;
  pause(ms: number): Promise<void>;
}

/** The input as a last argument; omitted if the operation needs none. */
export type InputOf<Input> = undefined extends Input ? [input?: Input] : [input: Input];

/** The defaults of all operations. */
const USUAL = { bounds: 'usual', isAnonymous: false, errors: 'details' } as const;

/** The defaults of a read. A read for few screens has the area `rest`, and not `reads`. */
const READ = {
  ...USUAL,
  effect: 'read',
  isIdempotent: true,
  area: 'reads',
  acceptsCached: false,
} as const;

const WRITE = {
  ...USUAL,
  effect: 'write',
  isIdempotent: false,
  area: 'rest',
  proves: 'nothing',
  acceptsCached: true,
} as const;

const ORDER = {
  ...WRITE,
  effect: 'order',
  area: 'orders',
  errors: 'submit',
} as const;

/** The properties that an operation's file gives: its name, its calls, and those that differ from the defaults. */
type Given<Usual, Name, Call extends string> = Omit<DescribedOperation, keyof Usual> &
  Partial<Omit<DescribedOperation, 'effect'>> & {
    readonly name: Name;
    readonly calls: Readonly<Record<Call, CallDescription>>;
  };

/** An account's operation of another service sends no token, and its answers prove none. */
const OF_ACCOUNT = { isAnonymous: true, proves: 'nothing' } as const;
type GivenForAccount<Usual, Name, Call extends string> = Omit<
  Given<Usual & typeof OF_ACCOUNT, Name, Call>,
  keyof typeof OF_ACCOUNT
>;

type Named<Operation, Name> = Operation & { readonly name: Name };

/** A read. `run` can send only the calls in `calls`. */
export function read<const Name extends string, Call extends string, Result, Input = undefined>(
  given: Given<typeof READ, Name, Call> & {
    readonly run: (calls: ReadCalls<Call>, input: Input) => Promise<Result>;
  },
): Named<ReadOperation<Input, Result>, Name> {
  return { ...READ, ...given };
}

/** A small write, whose answer is judged by the rules of all writes. */
export function write<const Name extends string, Call extends string, Result, Input>(
  given: Given<typeof WRITE, Name, Call> & {
    readonly run: (calls: WriteCalls<Call>, input: Input) => Promise<Result>;
  },
): Named<WriteOperation<Input, Result>, Name> {
  return { ...WRITE, ...given };
}

export function accountRead<
  const Name extends string,
  Call extends string,
  Result,
  Input = undefined,
>(
  given: GivenForAccount<typeof READ, Name, Call> & {
    readonly runFor: (calls: ReadCalls<Call>, login: string, input: Input) => Promise<Result>;
  },
): Named<AccountReadOperation<Input, Result>, Name> {
  return { ...READ, ...OF_ACCOUNT, ...given };
}

export function accountWrite<const Name extends string, Call extends string, Result, Input>(
  given: GivenForAccount<typeof WRITE, Name, Call> & {
    readonly runFor: (calls: WriteCalls<Call>, login: string, input: Input) => Promise<Result>;
  },
): Named<AccountWriteOperation<Input, Result>, Name> {
  return { ...WRITE, ...OF_ACCOUNT, ...given };
}

/** An order. Its call `trade` alone trades; its other calls look the outcome up. */
export function order<const Name extends string, Call extends string, Input>(
  given: Given<typeof ORDER, Name, Call | typeof TRADE> & OrderFunctions<Input, Call>,
): Named<OrderOperation<Input>, Name> {
  return { ...ORDER, ...given };
}
