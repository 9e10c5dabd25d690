import type { ErrorShape } from './operations/conventions.ts';
import type { Shape } from './shape.ts';

/** Each area has its own connections and its own budget of retries, so that a failing area does not delay the others. */
export type Area = string;

/** One call that an operation makes. */
export interface CallDescription {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** A segment `{name}` is replaced by its value, encoded as one segment. */
  readonly path: string;
  /** The names of the query's parameters. */
  readonly query?: readonly string[];
  readonly body?: Shape;
  /** The body of a 200. */
  readonly answer: Shape;
}

/** The properties that all calls of an operation share. */
export interface OperationTraits {
  readonly name: string;
  /**
   * A `read` changes nothing, so it is repeated if its answer is lost. A `write` is never repeated here, because a lost
   * answer leaves doubt. A lost answer to an `order` may have cost money.
   */
  readonly effect: 'read' | 'write' | 'order';
  /** Whether a client may repeat the operation after a lost answer. */
  readonly isIdempotent: boolean;
  /** Only orders use the area `orders`. */
  readonly area: Area;
  /** The deadline and the size of an answer. A `catalog` is allowed more of both. Orders have their own deadline. */
  readonly bounds: 'usual' | 'catalog';
  /**
   * The fact that a 200 proves about the token of its call. `login`: the gateway accepts the token for the login in it.
   * `token`: the gateway accepts the token. `group`: the token may read one group's catalog. Proof opens shared caches, so
   * an operation proves `nothing` until it is certain that the gateway checks the tokens of that operation.
   */
  readonly proves: 'login' | 'token' | 'group' | 'nothing';
  /**
   * Whether an answer with an `Age`, which came from a cache, is accepted. A cached answer to a read may be another user's.
   * A write accepts it, because an order's outcome must not be lost.
   */
  readonly acceptsCached: boolean;
  /** Whether the calls are sent without the request's token. */
  readonly isAnonymous: boolean;
  readonly errors: ErrorShape;
}

export type Proves = OperationTraits['proves'];

export interface DescribedOperation extends OperationTraits {
  /** Its number in the gateway's interface, or the next free number. */
  readonly number: number;
  readonly calls: Readonly<Record<string, CallDescription>>;
}

/** The first call in the operation's file. */
export function firstCallOf({ name, calls }: DescribedOperation): CallDescription {
  const [first] = Object.values(calls);
  if (first === undefined) throw new Error(`${name} has no call`);
  return first;
}

/** The name of an order's call that trades. */
export const TRADE = 'trade';

/** Whether the refusals of the operation are about its input. */
export function isSignIn({ errors }: Pick<OperationTraits, 'errors'>): boolean {
  return errors === 'sign-in';
}
