import { redact } from '../lib/redact.ts';
import { StacklessError } from '../lib/stackless-error.ts';
import { type Answer, jsonOf } from './exchange.ts';
import { readError } from './operations/conventions.ts';

/**
 * The reasons why a call of the gateway has no usable answer:
 * - `unauthenticated` 401, `forbidden` 403, `rate-limited` 429;
 * - `refused`: a read got another 4xx with an error body of the gateway's interface;
 * - `unavailable`: a write was certainly not sent; a read may also have got a 5xx or a broken connection;
 * - `unknown`: a write was sent, and no readable answer arrived;
 * - `timeout`: a read had no answer within its deadline;
 * - `contract`: an answer that breaks that interface.
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

/** An error without a stack, because in an outage every field of every request creates such an error. */
export class GatewayError extends StacklessError {
  override readonly name = 'GatewayError';
  readonly kind: GatewayErrorKind;
  readonly operation: string;
  /** Null if no status line was read. */
  readonly status: number | null;
  readonly refusal: GatewayRefusal | null;
  readonly retryAfterSeconds: number | null;
  /** False if the request's head was certainly not written to a socket. */
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

export function isGatewayError(
  error: unknown,
  ...kinds: readonly GatewayErrorKind[]
): error is GatewayError {
  return error instanceof GatewayError && kinds.includes(error.kind);
}

/** A call had no complete answer, or not even a connection, before its deadline. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';

  constructor(deadlineMs: number) {
    super(`no whole answer within ${Math.round(deadlineMs)} ms`);
  }
}

/** The service did not make the call. `expired`: the time to send it had passed. `held`: an operator holds orders back. */
export class NotAttemptedError extends StacklessError {
  override readonly name = 'NotAttemptedError';
  readonly reason: 'circuit' | 'busy' | 'expired' | 'held';

  constructor(reason: NotAttemptedError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** A path value that could leave its segment. It is refused before anything is sent. */
export class UnsafePathError extends Error {
  override readonly name = 'UnsafePathError';
  readonly parameter: string;
  /** The argument that the client sent; null if the value is a claim of its token. */
  readonly argument: string | null;

  constructor(parameter: string, argument: string | null) {
    super(`the value of "${parameter}" cannot be one segment of a path`);
    this.parameter = parameter;
    this.argument = argument;
  }
}

export type GatewayRefusal = Readonly<ReturnType<typeof toRefusal>>;

/** The body of a refusal; a missing property is null. */
export function toRefusal(body: unknown) {
  const { details, ...texts } = readError(body);
  return { ...texts, details: isShallow(details, MAX_DEPTH) ? details : null };
}

export function refusalOf(answer: Answer): GatewayRefusal {
  return toRefusal(jsonOf(answer));
}

/** Whether the answer has one of the gateway's error bodies. An answer without one may come from a proxy. */
export function hasErrorBody(answer: Answer): boolean {
  const { error, message } = refusalOf(answer);
  return error !== null || message !== null;
}

const MAX_WORDS_LENGTH = 2_000;

/** The texts of a refusal, with personal data redacted; null if it has none. */
export function refusalWords({ error, message }: GatewayRefusal) {
  if (error === null && message === null) return null;
  const redacted = (words: string | null) =>
    // Redacts more than is shown, because half of an e-mail address is not recognised.
    words === null ? null : redact(words.slice(0, 2 * MAX_WORDS_LENGTH)).slice(0, MAX_WORDS_LENGTH);
  return { error: redacted(error), message: redacted(message) };
}

// JSON.stringify recurses, so details of an answer that nest deeper could overflow the stack.
const MAX_DEPTH = 32;

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}
