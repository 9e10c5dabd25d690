import type { MaybePromise } from '../lib/maybe-promise.ts';
import type { ReadCalls, WriteCalls } from './calls.ts';
import type { DescribedOperation, OperationTraits } from './operation.ts';
import type { OrderCalls, OrderReply } from './order-calls.ts';

export interface ReadOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'read';
  readonly run: (calls: ReadCalls, input: Input) => MaybePromise<Result>;
}

export interface WriteOperation<Input, Result> extends DescribedOperation {
  readonly effect: 'write';
  readonly run: (calls: WriteCalls, input: Input) => MaybePromise<Result>;
}

/** The input of an operation as a last argument, which one that needs none may be called without. */
export type InputOf<Input> = undefined extends Input ? [input?: Input] : [input: Input];

/** What most operations of one kind have in common. */
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
  bounds: 'order',
  errors: 'submit',
} as const;

/** The properties that an operation's file names: those that are not the usual ones, its calls, and its function. */
type Given<Usual, Run> = Pick<DescribedOperation, 'number' | 'calls'> & {
  readonly name: string;
} & Omit<OperationTraits, keyof Usual | 'name'> &
  Partial<Omit<OperationTraits, 'effect' | 'name'>> & { readonly run: Run };

type Made<Usual, G> = Omit<Usual, keyof G> & G & Pick<DescribedOperation, 'verb' | 'path'>;

function made<Usual extends object, G extends Pick<DescribedOperation, 'calls'>>(
  usual: Usual,
  given: G,
) {
  const [first] = Object.values(given.calls);
  if (first === undefined) throw new Error('an operation without a call');
  return { ...usual, ...given, verb: first.method, path: first.path } as unknown as Made<Usual, G>;
}

export function read<
  const G extends Given<typeof READ, (calls: ReadCalls, input: never) => MaybePromise<unknown>>,
>(given: G) {
  return made(READ, given);
}

/** A small write: its answer is judged like those of all writes. */
export function write<
  const G extends Given<typeof WRITE, (calls: WriteCalls, input: never) => MaybePromise<unknown>>,
>(given: G) {
  return made(WRITE, given);
}

/** An order: its call `trade` may trade. */
export function order<
  const G extends Given<typeof ORDER, (calls: OrderCalls, input: never) => Promise<OrderReply>>,
>(given: G) {
  return made(ORDER, given);
}
