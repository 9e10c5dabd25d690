import type { Shape } from './shape.ts';

/** Each area has a connection pool of its own, so that a slow one leaves the others alone. */
export type Area = string;

/** Operations that fail together share a retry budget: people can sign in while payments are down. */
export type Backend = string;

type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One call that an operation makes. */
export interface CallDescription {
  readonly method: Verb;
  /** A segment `{name}` is filled in, encoded as one segment. */
  readonly path: string;
  /** The names of the query's parameters, where there are any. */
  readonly query?: readonly string[];
  /** The body that is sent. */
  readonly body?: Shape;
  /** The answer with a 200. */
  readonly answer: Shape;
}

/** The properties that all calls of an operation share. */
export interface OperationTraits {
  readonly name: string;
  /**
   * A `read` changes nothing, so it is repeated where its answer is lost. A `write` is never repeated here: a lost answer leaves
   * doubt. A lost answer of an `order` may have cost money.
   */
  readonly effect: 'read' | 'write' | 'order';
  /** Whether a client may repeat it where its answer was lost. */
  readonly isIdempotent: boolean;
  readonly backend: Backend;
  /** The area `orders` is for orders alone. */
  readonly area: Area;
  /** The time and the size of an answer. Those of an order have a setting of their own; a `catalog` may be much larger. */
  readonly bounds: 'usual' | 'catalog';
  /**
   * The fact that a 200 proves about its token: that it is accepted and its `login` its own, that it is accepted (`token`), that
   * it may read one `group`'s catalog, or `nothing`. Proof opens shared caches, so an operation proves `nothing` until it is
   * certain that the gateway checks the token for it.
   */
  readonly proves: 'login' | 'token' | 'group' | 'nothing';
  /**
   * Whether an answer with an `Age` counts. A read's may be another user's, out of a cache. A write's counts, since an order's
   * outcome must not be lost.
   */
  readonly mayHaveAged: boolean;
  /** The call goes out without the request's token. */
  readonly isAnonymous: boolean;
  /**
   * The shape of the errors' bodies: `{error, message, details}`, `{error, message}`, `{message}`, an order's
   * `{success, err, message}`. A sign-in also answers `{error, ok}`, also with a 200, and its 401 and 403 are about the input.
   */
  readonly errors: 'details' | 'plain' | 'message' | 'submit' | 'sign-in';
}

export type Proves = OperationTraits['proves'];

/** The operation of a call on the wire, with that call's method and path. */
export interface GatewayOperation extends OperationTraits {
  readonly verb: Verb;
  readonly path: string;
}

export type CallDescriptions = Readonly<Record<string, CallDescription>>;

/** An operation of the interface. */
export interface DescribedOperation extends OperationTraits {
  /** Its number in the interface, or the next one. */
  readonly number: number;
  /** Each call that it makes, by name. */
  readonly calls: CallDescriptions;
}

/** The call that comes first in the operation's file. */
export function firstCallOf({ name, calls }: DescribedOperation): CallDescription {
  const [first] = Object.values(calls);
  if (first === undefined) throw new Error(`${name} has no call`);
  return first;
}

/** The name of the call of an order that may trade. */
export const TRADE = 'trade';

/** Whether its refusals are about the input: a sign-in's. */
export function isSignIn({ errors }: Pick<OperationTraits, 'errors'>): boolean {
  return errors === 'sign-in';
}
