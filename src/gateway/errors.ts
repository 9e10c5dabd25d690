import { StacklessError } from '../lib/stackless-error.ts';
import type { GatewayRefusal } from './refusal.ts';

/**
 * The reasons for which a call of the gateway has no usable answer:
 * - `unauthenticated` 401, `forbidden` 403, `rate-limited` 429;
 * - `refused`: a read got another 4xx with an error body of the interface;
 * - `unavailable`: for a write, surely never sent; for a read also a 5xx or a connection that broke;
 * - `unknown`: a write went out and no readable answer came back;
 * - `timeout`: a read had no answer within its deadline;
 * - `contract`: an answer outside the interface.
 */
export type GatewayErrorKind =
  | 'unauthenticated'
  | 'forbidden'
  | 'rate-limited'
  | 'refused'
  | 'unavailable'
  | 'unknown'
  | 'timeout'
  | 'contract';

type Details = Pick<GatewayError, 'status' | 'refusal' | 'retryAfterSeconds' | 'wasSent' | 'cause'>;

/** In an outage each field of each request has one. */
export class GatewayError extends StacklessError {
  override readonly name = 'GatewayError';
  readonly kind: GatewayErrorKind;
  readonly operation: string;
  /** Null where no status line was read. */
  readonly status: number | null;
  readonly refusal: GatewayRefusal | null;
  readonly retryAfterSeconds: number | null;
  /** False where its head surely never went onto a socket. */
  readonly wasSent: boolean;

  constructor(
    kind: GatewayErrorKind,
    operation: string,
    message: string,
    details: Partial<Details> = {},
  ) {
    super(`${operation}: ${message}`, { cause: details.cause });
    this.kind = kind;
    this.operation = operation;
    this.status = details.status ?? null;
    this.refusal = details.refusal ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
    this.wasSent = details.wasSent ?? true;
  }
}

/** Whether a call failed for one of the reasons. */
export function isGatewayError(
  error: unknown,
  ...kinds: readonly GatewayErrorKind[]
): error is GatewayError {
  return error instanceof GatewayError && kinds.includes(error.kind);
}

/** A call had no whole answer before its deadline, or not even a connection. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';

  constructor(deadlineMs: number) {
    super(`no whole answer within ${Math.round(deadlineMs)} ms`);
  }
}

/**
 * A call was not attempted: our own decision, which says nothing about the gateway. `expired`: the moment before which it was
 * meant to be sent had passed when its head would have gone onto a socket; `held`: an operator holds orders back.
 */
export class NotAttemptedError extends StacklessError {
  override readonly name = 'NotAttemptedError';
  readonly reason: 'circuit' | 'busy' | 'expired' | 'held';

  constructor(reason: NotAttemptedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The source of a path value: the viewer's token or session, a setting, or an argument of the client. */
export type PathValueSource = 'token' | 'session' | 'setting' | { readonly argument: string };

/** A path value that could leave its segment; refused before anything is sent. */
export class UnsafePathError extends Error {
  override readonly name = 'UnsafePathError';
  readonly parameter: string;
  readonly source: PathValueSource;

  constructor(parameter: string, source: PathValueSource) {
    super(`the value of "${parameter}" cannot be one segment of a path`);
    this.parameter = parameter;
    this.source = source;
  }
}
