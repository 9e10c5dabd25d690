import type { Shape } from './shape.ts';

/** Areas are bulkheads: each has a pool of its own, so that a slow one leaves the others alone. */
export type Area = string;

/** The units of failure, each with its breaker and retries: people can sign in while payments are down. */
export type Backend = string;

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

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

/** All that is true of an operation's calls, whichever of them is sent. */
export interface OperationTraits {
  readonly name: string;
  /**
   * Nothing happens where the answer of a `read` is lost: it is repeated here. A lost answer of a `write` leaves doubt;
   * it is never repeated here. That of an `order` may have cost money.
   */
  readonly effect: 'read' | 'write' | 'order';
  /** Whether a client may repeat it where its answer was lost. */
  readonly isIdempotent: boolean;
  readonly backend: Backend;
  /** Never that of orders but for orders, whose connections are theirs alone. */
  readonly area: Area;
  /** The settings that bound the time of a call and the size of its answer. */
  readonly bounds: 'usual' | 'order' | 'catalog';
  /** Whether a long answer is parsed piece by piece. */
  readonly isReadInPieces?: boolean;
  /**
   * A 200 proves something about its token: that the token is accepted and its `login` its own, that it
   * is accepted (`token`), that it may read one `group`'s catalog, or `nothing`. Proof opens shared caches,
   * so an operation proves `nothing` until it is certain that the gateway checks the token for it.
   */
  readonly proves: 'login' | 'token' | 'group' | 'nothing';
  /**
   * Whether an answer with an `Age` counts. A cache may have it from another user; a write's may have aged on its way, and what it says
   * of an order must not be lost.
   */
  readonly mayHaveAged: boolean;
  /** The call goes out without a token, whatever token the request came with. */
  readonly isAnonymous: boolean;
  /**
   * The shape of the errors' bodies: `{error, message, details}`, `{error, message}`, `{message}`, an
   * order's `{success, err, message}`; a sign-in also answers `{error, ok}`, with a 200 too, and its 401
   * and 403 are about the input.
   */
  readonly errors: 'details' | 'plain' | 'message' | 'submit' | 'sign-in';
}

export type Proves = OperationTraits['proves'];

/** A call of an operation as it goes onto the wire. */
export interface GatewayOperation extends OperationTraits {
  readonly verb: Verb;
  readonly path: string;
}

/** The name of the call of an order that may trade. */
export const TRADE = 'trade';

/** An operation of the interface: its traits, and each call that it makes. Verb and path are those of the first. */
export interface DescribedOperation extends GatewayOperation {
  /** Its number in the interface, or the next one. */
  readonly number: number;
  readonly calls: Readonly<Record<string, CallDescription>>;
}

/** Whether its refusals are about the input: a sign-in's. */
export function isSignIn({ errors }: Pick<OperationTraits, 'errors'>): boolean {
  return errors === 'sign-in';
}
