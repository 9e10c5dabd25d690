import type { Code } from '../lib/error-codes.ts';
import { PublicError, type Shown, StacklessError } from '../lib/public-error.ts';
import { redact } from '../lib/redact.ts';
import { type Answer, jsonOf } from './exchange.ts';
import { readError } from './operations/conventions.ts';

/** The reasons why a call of the gateway has no usable answer, each with its code and message for clients. */
const KINDS = {
  /** A 401. */
  unauthenticated: ['UNAUTHENTICATED', 'The gateway does not accept the token.'],
  /** A 403. */
  forbidden: ['FORBIDDEN', 'The gateway does not allow this.'],
  /** A 429. */
  'rate-limited': ['RATE_LIMITED', 'The gateway asks for a pause.'],
  /** A read got another 4xx with an error body of the gateway's interface. */
  refused: ['GATEWAY_REFUSED', 'The gateway refused this.'],
  /** A write was certainly not sent; a read may also have got a 5xx or a broken connection. */
  unavailable: ['GATEWAY_UNAVAILABLE', 'The gateway cannot be reached.'],
  /** A write was sent, and no readable answer arrived. */
  unknown: [
    'OUTCOME_UNKNOWN',
    'The gateway gave no readable answer: this may have been done or not.',
  ],
  /** A read had no answer within its deadline. */
  timeout: ['GATEWAY_TIMEOUT', 'The gateway did not answer in time.'],
  /** An answer that breaks that interface. */
  contract: ['GATEWAY_CONTRACT', 'The gateway gave an answer outside its interface.'],
} as const satisfies Record<string, readonly [code: Code, message: string]>;

export type GatewayErrorKind = keyof typeof KINDS;

/** The codes that a gateway call can cause. The error's `operation` then names the call. */
export const CODES_OF_CALLS: ReadonlySet<Code> = new Set(
  Object.values(KINDS).map(([code]) => code),
);

/** The kinds of errors that carry the gateway's own words to users. */
const SPOKEN: ReadonlySet<GatewayErrorKind> = new Set(['forbidden', 'rate-limited', 'refused']);
/** The gateway's notice of maintenance. */
const MAINTENANCE = 503;
// The pause if `Retry-After` is absent or shorter.
const MIN_RETRY_AFTER_SECONDS = 1;

type Details = Pick<
  GatewayError,
  'status' | 'refusal' | 'retryAfterSeconds' | 'wasSent' | 'isIdempotent' | 'cause'
>;

/** A call of the gateway has no usable answer. */
export class GatewayError extends PublicError {
  override readonly name: string = 'GatewayError';
  readonly kind: GatewayErrorKind;
  readonly operation: string;
  /** Null if no status line was read. */
  readonly status: number | null;
  readonly refusal: GatewayRefusal | null;
  readonly retryAfterSeconds: number | null;
  /** False if the request's head was certainly not written to a socket. */
  readonly wasSent: boolean;
  /** Whether a client may repeat the operation after a lost answer. */
  readonly isIdempotent: boolean;

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
    this.isIdempotent = details.isIdempotent ?? false;
  }

  get shown(): Shown {
    const { kind, operation, refusal, retryAfterSeconds, status, isIdempotent } = this;
    const [code, message] = KINDS[kind];
    const hasRetryAfter = kind === 'rate-limited' || retryAfterSeconds !== null;
    const isSpoken = SPOKEN.has(kind) || (kind === 'unavailable' && status === MAINTENANCE);
    const gatewayError = refusal !== null && isSpoken ? refusalWords(refusal) : null;
    const more = {
      operation,
      ...(kind === 'unknown' && { retryable: isIdempotent }),
      ...(hasRetryAfter && {
        retryAfter: Math.max(MIN_RETRY_AFTER_SECONDS, retryAfterSeconds ?? 0),
      }),
      ...(gatewayError !== null && { gatewayError }),
    };
    return { code, message, more };
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
export class UnsafePathError extends PublicError {
  override readonly name = 'UnsafePathError';
  readonly parameter: string;
  /** The argument that the client sent; null if the value is a claim of its token. */
  readonly argument: string | null;

  constructor(parameter: string, argument: string | null) {
    super(`the value of "${parameter}" cannot be one segment of a path`);
    this.parameter = parameter;
    this.argument = argument;
  }

  get shown(): Shown {
    const { argument } = this;
    if (argument === null) {
      return { code: 'UNAUTHENTICATED', message: 'Sign in: the token cannot be used.' };
    }
    const message = `${argument} cannot be one segment of a path.`;
    return { code: 'BAD_USER_INPUT', message, more: { argument } };
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
