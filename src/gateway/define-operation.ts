import type { ReadCalls, WriteCalls } from './calls.ts';
import type { CallDescription, CallDescriptions, DescribedOperation, TRADE } from './operation.ts';
import type { OrderCalls, OrderReply } from './order-calls.ts';

/** `run` makes the calls, and reads in their answers what the operation resolves to. */
export interface ReadOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'read';
  readonly run: (calls: ReadCalls, input: Input) => Promise<Result>;
}

export interface WriteOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'write';
  readonly run: (calls: WriteCalls, input: Input) => Promise<Result>;
}

export interface OrderOperation<Input> extends DescribedOperation {
  readonly effect: 'order';
  readonly run: (calls: OrderCalls, input: Input) => Promise<OrderReply>;
}

/** The input as a last argument, which is left out where the operation needs none. */
export type InputOf<Input> = undefined extends Input ? [input?: Input] : [input: Input];

/** Most operations of one kind have these properties. */
const USUAL = { bounds: 'usual', isAnonymous: false, errors: 'details' } as const;

/** A read that every screen makes. */
const READ = {
  ...USUAL,
  effect: 'read',
  isIdempotent: true,
  backend: 'reads',
  area: 'reads',
  mayHaveAged: false,
} as const;

const WRITE = {
  ...USUAL,
  effect: 'write',
  isIdempotent: false,
  backend: 'user',
  area: 'rest',
  proves: 'nothing',
  mayHaveAged: true,
} as const;

const ORDER = {
  ...WRITE,
  effect: 'order',
  backend: 'orders',
  area: 'orders',
  errors: 'submit',
} as const;

/** The properties that an operation's file names: its calls, and those that are not the usual ones. */
type Given<Usual, Name, Calls, Run> = Omit<DescribedOperation, keyof Usual | 'name' | 'calls'> &
  Partial<Omit<DescribedOperation, 'effect' | 'name' | 'calls'>> & {
    readonly name: Name;
    readonly calls: Calls;
    readonly run: Run;
  };

type Named<Operation, Name> = Operation & { readonly name: Name };

/** A read. `run` can send the calls in `calls` and no others. */
export function read<
  const Name extends string,
  const Calls extends CallDescriptions,
  Result,
  Input = undefined,
>(
  given: Given<
    typeof READ,
    Name,
    Calls,
    (calls: ReadCalls<keyof Calls & string>, input: Input) => Promise<Result>
  >,
): Named<ReadOperation<Input, Result>, Name> {
  return { ...READ, ...given };
}

/** A small write: its answer is judged like those of all writes. */
export function write<
  const Name extends string,
  const Calls extends CallDescriptions,
  Result,
  Input,
>(
  given: Given<
    typeof WRITE,
    Name,
    Calls,
    (calls: WriteCalls<keyof Calls & string>, input: Input) => Promise<Result>
  >,
): Named<WriteOperation<Input, Result>, Name> {
  return { ...WRITE, ...given };
}

/** An order: its call `trade` may trade. */
export function order<
  const Name extends string,
  const Calls extends CallDescriptions & Readonly<Record<typeof TRADE, CallDescription>>,
  Input,
>(
  given: Given<
    typeof ORDER,
    Name,
    Calls,
    (calls: OrderCalls<keyof Calls & string>, input: Input) => Promise<OrderReply>
  >,
): Named<OrderOperation<Input>, Name> {
  return { ...ORDER, ...given };
}
