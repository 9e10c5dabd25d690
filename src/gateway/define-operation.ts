import type { ReadCalls, WriteCalls } from './calls.ts';
import type { CallDescription, DescribedOperation, TRADE } from './operation.ts';
import type { OrderCalls, OrderReply } from './order-calls.ts';

/** `run` makes the calls, reads their answers, and resolves to the operation's result. */
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

/** The input as a last argument; omitted if the operation needs none. */
export type InputOf<Input> = undefined extends Input ? [input?: Input] : [input: Input];

/** The defaults of all operations. */
const USUAL = { bounds: 'usual', isAnonymous: false, errors: 'details' } as const;

/** The defaults of a read that every screen makes. */
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

/** The properties that an operation's file gives: its name, its calls, and those that differ from the defaults. */
type Given<Usual, Name, Call extends string, Run> = Omit<DescribedOperation, keyof Usual> &
  Partial<Omit<DescribedOperation, 'effect'>> & {
    readonly name: Name;
    readonly calls: Readonly<Record<Call, CallDescription>>;
    readonly run: Run;
  };

type Named<Operation, Name> = Operation & { readonly name: Name };

/** A read. `run` can send only the calls in `calls`. */
export function read<const Name extends string, Call extends string, Result, Input = undefined>(
  given: Given<typeof READ, Name, Call, (calls: ReadCalls<Call>, input: Input) => Promise<Result>>,
): Named<ReadOperation<Input, Result>, Name> {
  return { ...READ, ...given };
}

/** A small write. Its answer is judged like those of all writes. */
export function write<const Name extends string, Call extends string, Result, Input>(
  given: Given<
    typeof WRITE,
    Name,
    Call,
    (calls: WriteCalls<Call>, input: Input) => Promise<Result>
  >,
): Named<WriteOperation<Input, Result>, Name> {
  return { ...WRITE, ...given };
}

/** An order. Only its call `trade` may trade. */
export function order<const Name extends string, Call extends string, Input>(
  given: Given<
    typeof ORDER,
    Name,
    Call | typeof TRADE,
    (calls: OrderCalls<Call | typeof TRADE>, input: Input) => Promise<OrderReply>
  >,
): Named<OrderOperation<Input>, Name> {
  return { ...ORDER, ...given };
}
