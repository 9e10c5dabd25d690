import { systemClock } from '../lib/clock.ts';
import { isObject } from '../lib/json.ts';
import {
  type Answer,
  type CallOutcome,
  type Exchange,
  isJsonContent,
  jsonOf,
  type WireCall,
} from './exchange.ts';
import {
  DeadlineError,
  GatewayError,
  type GatewayErrorKind,
  type GatewayRefusal,
  hasErrorBody,
  NotAttemptedError,
  refusalOf,
  toRefusal,
} from './gateway-error.ts';
import { isSignIn, type OperationTraits } from './operation-traits.ts';
import { ACKNOWLEDGED } from './operations/acknowledged.ts';
import { VERDICT } from './operations/conventions.ts';

/** The consequences of an exchange, in one table, so that metrics, breakers, retries and errors agree. */
interface Judgement {
  readonly outcome: CallOutcome;
  readonly health: Health;
  /** Whether a read may succeed a moment later. */
  readonly mayRecover: boolean;
  /** The error of a read; null if it has an answer. */
  readonly error: GatewayErrorKind | null;
}

/**
 * The health of the gateway that one call shows; `none` if it shows nothing. `failure`: an answer that reports a failure.
 * `limited`: a 429 of a healthy gateway. `lost`: no answer. `unreachable`: no connection. `foreign`: an answer to an order
 * that may come from a proxy.
 */
export type Health =
  | 'success'
  | 'limited'
  | 'failure'
  | 'lost'
  | 'unreachable'
  | 'foreign'
  | 'none';

const JUDGEMENTS = {
  expired: means('expired', 'none', 'unavailable'),
  circuit: means('circuit', 'none', 'unavailable'),
  // To metrics, orders that an operator holds back are like an open circuit.
  held: means('circuit', 'none', 'unavailable'),
  busy: means('busy', 'none', 'unavailable'),
  late: means('timeout', 'lost', 'unavailable'),
  unsendable: means('connect', 'none', 'unavailable'),
  unreachable: means('connect', 'unreachable', 'unavailable', true),
  timeout: means('timeout', 'lost', 'timeout'),
  // Usually a keep-alive connection that the gateway closed at the moment of reuse.
  connection: means('reset', 'lost', 'unavailable', true),
  protocol: means('contract', 'none', 'contract'),
  oversize: means('contract', 'none', 'contract'),
  encoding: means('contract', 'none', 'contract'),
  cached: means('contract', 'none', 'contract'),
  answered: means('ok', 'success', null),
  // A 401 or 403 may come from a proxy whose backend is down, and forged tokens prove neither health nor failure.
  401: means('401', 'none', 'unauthenticated'),
  403: means('403', 'none', 'forbidden'),
  // The call carried no token of the user, so these are about the credentials of this service.
  credentials: means('credentials', 'failure', 'unavailable'),
  408: means('timeout', 'success', 'timeout'),
  429: means('429', 'limited', 'rate-limited', true),
  refused: means('4xx', 'success', 'refused'),
  failed: means('5xx', 'failure', 'unavailable', true),
  foreign: means('contract', 'success', 'contract'),
} as const;

function means(
  outcome: CallOutcome,
  health: Health,
  error: GatewayErrorKind | null,
  mayRecover = false,
): Judgement {
  return { outcome, health, mayRecover, error };
}

/** The traits by which an answer is judged. */
export type Judged = Pick<OperationTraits, 'name' | 'errors' | 'isAnonymous' | 'isIdempotent'>;

/** Classifies by status only; callers read the body of a 4xx about the request. */
export function classify(operation: Judged, exchange: Exchange): Judgement {
  if (!exchange.sent) return JUDGEMENTS[unsent(exchange.cause)];
  if (!exchange.answered) return JUDGEMENTS[exchange.reason];
  const { status } = exchange;
  if (isSuccess(status) || status === 304) return JUDGEMENTS.answered;
  const isAboutSender = status === 401 || status === 403;
  if (isAboutSender && operation.isAnonymous && !isSignIn(operation)) return JUDGEMENTS.credentials;
  if (isAboutSender || status === 408 || status === 429) return JUDGEMENTS[status];
  if (status >= 500) return JUDGEMENTS.failed;
  return status >= 400 ? JUDGEMENTS.refused : JUDGEMENTS.foreign;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

// Requests that can never be sent, and closing pools, are not failures of the gateway.
const OWN_FAULTS: ReadonlySet<unknown> = new Set([
  'UND_ERR_INVALID_ARG',
  'UND_ERR_NOT_SUPPORTED',
  'UND_ERR_ABORTED',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
]);

/** Why a call was not sent. Without a connection (refused, unknown host, TLS) the gateway is `unreachable`. */
function unsent(cause: unknown) {
  if (cause instanceof NotAttemptedError) return cause.reason;
  if (cause instanceof DeadlineError) return 'late';
  return OWN_FAULTS.has(codeOf(cause)) ? 'unsendable' : 'unreachable';
}

/** The outcome of a call as one word for operators. It may differ from the answer that the client gets. */
export function callOutcome(call: WireCall, exchange: Exchange): CallOutcome {
  const { outcome } = classify(call.operation, exchange);
  if (!exchange.sent || !exchange.answered || exchange.status === 304) return outcome;
  if (outcome === 'ok') return isJsonContent(exchange.headers['content-type']) ? 'ok' : 'contract';
  // A 4xx to a write is about its input. A 4xx to a read without one of the gateway's error bodies may come from a proxy.
  const isRead = call.operation.effect === 'read';
  const isForeign = isRead && outcome === '4xx' && !hasErrorBody(exchange);
  return isForeign ? 'contract' : outcome;
}

/**
 * The health that a breaker counts. For orders only an answer in the form of the gateway's interface is a `success`. A 2xx
 * or 3xx of another server is a `failure`, because the next orders would end unknown. Its 4xx is `foreign`, and after its
 * 5xx the order is `lost`.
 */
export function healthShown(call: WireCall, exchange: Exchange): Health {
  const { health, outcome } = classify(call.operation, exchange);
  if (call.operation.effect !== 'order') return health;
  if (!exchange.sent) return health === 'unreachable' ? health : 'none';
  if (outcome === 'contract') return 'failure';
  if (!exchange.answered || outcome === '401' || outcome === '403') return health;
  if (isOfInterface(exchange)) return health === 'limited' ? health : 'success';
  if (outcome === '5xx') return 'lost';
  return outcome === 'ok' ? 'failure' : 'foreign';
}

/** Whether the body is a JSON object: `{}` belongs to the interface, a page with a JSON content type does not. */
function isOfInterface(answer: Answer): boolean {
  if (!/^\s*\{/.test(answer.bytes.toString('latin1', 0, MAX_INDENT_LENGTH))) return false;
  if (answer.status < 500) return true;
  // Proxies write JSON too, but only the gateway reports whether the order was a success.
  const body = jsonOf(answer);
  return isObject(body) && (VERDICT in body || Object.keys(body).length === 0);
}

const MAX_INDENT_LENGTH = 64; // Before the first brace of a body.

/** Whether a read that ended like this may succeed a moment later. */
export function isWorthRepeating(call: WireCall, exchange: Exchange): boolean {
  return classify(call.operation, exchange).mayRecover;
}

/** The code of the error with which a call ended; null if it has none. */
export function codeOf(cause: unknown): string | null {
  const hasCode = cause instanceof Error && 'code' in cause && typeof cause.code === 'string';
  return hasCode ? String(cause.code) : null;
}

/** The outcome of a small write that the gateway answered. */
export type Acknowledgement =
  | { readonly outcome: 'acknowledged' }
  | { readonly outcome: 'rejected'; readonly refusal: GatewayRefusal };

/** Returns a read's answer if its status is 2xx or 304, and throws the reason otherwise. */
export function judgeRead(operation: Judged, exchange: Exchange): Answer {
  const { error } = classify(operation, exchange);
  if (error !== null || !exchange.sent || !exchange.answered) throw failure(operation, exchange);
  return exchange;
}

/**
 * Returns the outcome of a small write. Throws an `unknown` error if it is in doubt: the client decides on a retry.
 * `isByStatus`: a 2xx whose body has no verdict is a success too, but not a proxy's page.
 */
export function judgeWrite(
  operation: Judged,
  exchange: Exchange,
  isByStatus = false,
): Acknowledgement {
  const answer = answerOf(operation, exchange, 'unknown');
  const body = jsonOf(answer);
  if (isSuccess(answer.status) && isObject(body)) {
    const success = body[ACKNOWLEDGED.names.success];
    if (success === true) return { outcome: 'acknowledged' };
    const refusal = toRefusal(body);
    const isRefusedSignIn = isSignIn(operation) && refusal.error !== null;
    if (success === false || isRefusedSignIn) return { outcome: 'rejected', refusal };
  }
  if (isByStatus && isSuccess(answer.status) && isJsonContent(answer.headers['content-type'])) {
    return { outcome: 'acknowledged' };
  }
  if (isAboutTheRequest(operation, answer.status)) {
    return { outcome: 'rejected', refusal: toRefusal(body) };
  }
  throw new GatewayError('unknown', operation.name, `status ${answer.status} without a verdict`, {
    status: answer.status,
    isIdempotent: operation.isIdempotent,
    ...(answer.status === 503 && { retryAfterSeconds: retryAfterSeconds(answer) }),
  });
}

export function contractError(operation: string, message: string): GatewayError {
  return new GatewayError('contract', operation, message);
}

/**
 * Whether a status is about the request itself. Statuses about its sender and its rate have been thrown before. A proxy
 * writes 499 if its client hung up: the gateway may have carried the write out.
 */
export function isAboutTheRequest(operation: Judged, status: number): boolean {
  if (status === 499) return isSignIn(operation);
  return status >= 400 && status <= 499 && status !== 408;
}

/** Returns the answer of a call. Throws if there is none, or if its status is about the sender or its rate. */
export function answerOf(
  operation: Judged,
  exchange: Exchange,
  unanswered?: GatewayErrorKind,
): Answer {
  if (!exchange.sent || !exchange.answered) throw failure(operation, exchange, unanswered);
  const refusal = commonRefusal(operation, exchange);
  if (refusal) throw refusal;
  return exchange;
}

/** The error of a status about the sender or its rate. The 401 and 403 of a sign-in are about its input. */
export function commonRefusal(operation: Judged, answer: Answer): GatewayError | null {
  const { status } = answer;
  const isAboutSender = status === 401 || status === 403;
  if (isAboutSender && isSignIn(operation)) return null;
  return isAboutSender || status === 429 ? failure(operation, answer) : null;
}

/** `unanswered`: the kind of the error if there is no answer; by default that of a read. */
export function failure(
  operation: Judged,
  exchange: Exchange,
  unanswered?: GatewayErrorKind,
): GatewayError {
  const { error } = classify(operation, exchange);
  const { name } = operation;
  const kind = error ?? 'contract';
  if (!exchange.sent) {
    const details = { cause: exchange.cause, wasSent: false };
    return new GatewayError(kind, name, 'never sent', details);
  }
  if (!exchange.answered) {
    const { reason, cause } = exchange;
    const message = `no readable answer (${reason})`;
    const { isIdempotent } = operation;
    return new GatewayError(unanswered ?? kind, name, message, { cause, isIdempotent });
  }
  const { status } = exchange;
  const isForeign = kind === 'refused' && !hasErrorBody(exchange);
  return new GatewayError(isForeign ? 'contract' : kind, name, `status ${status}`, {
    status,
    refusal: refusalOf(exchange),
    ...((status === 429 || status === 503) && { retryAfterSeconds: retryAfterSeconds(exchange) }),
  });
}

// A longer wait is taken for the mistake of a wrong clock.
const MAX_SECONDS = 3_600;

/** `Retry-After` in seconds; a date is compared with the answer's own `Date`. Null if it is absent or invalid. */
export function retryAfterSeconds({ headers }: Answer): number | null {
  const value = headers['retry-after']?.trim();
  if (!value) return null;
  const gatewayMs = Date.parse(headers.date ?? '');
  const nowMs = Number.isNaN(gatewayMs) ? systemClock.date() : gatewayMs;
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), MAX_SECONDS);
}
