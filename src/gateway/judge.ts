import type { Acknowledgement } from './answers.ts';
import { GatewayError } from './errors.ts';
import type { Answer, Exchange, NoAnswer } from './exchange.ts';
import { OPERATIONS, type OperationName } from './operations.ts';
import { type GatewayRefusal, type LoginGrant, toLoginGrant, toRefusal } from './wire/bodies.ts';
import { isRow, type Row } from './wire/scalars.ts';

/** Returns a read's answer where the status is 2xx (or 304), and throws the reason otherwise. */
export function judgeRead(operation: OperationName, exchange: Exchange): Answer {
  const answer = answerOf(operation, exchange, readGotNoAnswer);
  if (isSuccess(answer.status) || answer.status === 304) return answer;
  throw commonRefusal(operation, answer) ?? statusError(operation, answer);
}

/** Returns the outcome of a small write. In doubt it is `unknown`: whether to retry is the client's choice. */
export function judgeWrite(operation: OperationName, exchange: Exchange): Acknowledgement {
  const answer = answerOf(operation, exchange, writeGotNoAnswer);
  const common = commonRefusal(operation, answer);
  if (common) throw common;
  const body = jsonOf(answer);
  if (isSuccess(answer.status) && isRow(body)) {
    if (body.success === true) return { outcome: 'acknowledged' };
    if (body.success === false || isSignInRefusal(operation, body)) {
      return { outcome: 'rejected', refusal: toRefusal(body) };
    }
  }
  if (isAboutTheRequest(answer.status)) return { outcome: 'rejected', refusal: toRefusal(body) };
  throw new GatewayError('unknown', operation, `status ${answer.status} and no verdict in it`, {
    status: answer.status,
    ...(answer.status === 503 && pauseAsked(answer)),
  });
}

/** Returns a sign-in's grant, or the gateway's refusal of the input; null where the body is neither. */
export function judgeSignIn(
  operation: OperationName,
  exchange: Exchange,
): LoginGrant | GatewayRefusal | null {
  const answer = answerOf(operation, exchange, readGotNoAnswer);
  const common = commonRefusal(operation, answer);
  if (common) throw common;
  if (isSuccess(answer.status)) {
    const body = jsonOf(answer);
    const grant = toLoginGrant(body);
    if (grant) return grant;
    if (isRow(body) && isSignInRefusal(operation, body)) return toRefusal(body);
    if (isRow(body) && body.passkey === true) return passkeyRefusal(body);
    return null;
  }
  if (isAboutTheRequest(answer.status)) return refusalOf(answer);
  throw statusError(operation, answer);
}

/** The body as JSON; undefined where it is none. A page of HTML with status 200 is not an answer. */
export function jsonOf(answer: Answer, parse: (text: string) => unknown = JSON.parse): unknown {
  if (!isJsonType(answer.headers['content-type'])) return undefined;
  try {
    return parse(answer.bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

export function isJsonType(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true;
  return /^\s*[\w.+-]+\/([\w.+-]+\+)?json\b/i.test(type);
}

export function contractError(operation: OperationName, message: string): GatewayError {
  return new GatewayError('contract', operation, message);
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299;
}

/** A 4xx that is about the request itself, once those about its sender and its rate are thrown. */
function isAboutTheRequest(status: number): boolean {
  return status >= 400 && status <= 499 && status !== 408;
}

/** The account has no password: a form has to say so, in place of an error that looks like a fault. */
function passkeyRefusal(body: Row): GatewayRefusal {
  const refusal = toRefusal(body);
  const message = 'The gateway gave no token: this account signs in with a passkey.';
  return { ...refusal, message: refusal.message ?? message, details: { passkey: true } };
}

/** A sign-in is also refused by a 200 that names an error. */
function isSignInRefusal(operation: OperationName, body: Row): boolean {
  return OPERATIONS[operation].errors === 'sign-in' && typeof body.error === 'string';
}

export function refusalOf(answer: Answer): GatewayRefusal {
  return toRefusal(jsonOf(answer));
}

/** True for a 4xx with an error body of the interface; without one the gateway may not even have sent it. */
export function isWordedRefusal(answer: Answer): boolean {
  if (!isAboutTheRequest(answer.status)) return false;
  const { error, message } = refusalOf(answer);
  return error !== null || message !== null;
}

function answerOf(
  operation: OperationName,
  exchange: Exchange,
  gotNoAnswer: (operation: OperationName, exchange: NoAnswer) => GatewayError,
): Answer {
  if (!exchange.sent) {
    const details = { cause: exchange.cause, wasSent: false };
    throw new GatewayError('unavailable', operation, 'never sent', details);
  }
  if (!exchange.answered) throw gotNoAnswer(operation, exchange);
  return exchange;
}

function readGotNoAnswer(operation: OperationName, { reason, cause }: NoAnswer): GatewayError {
  const kinds = {
    timeout: 'timeout',
    connection: 'unavailable',
    aborted: 'unavailable',
    protocol: 'contract',
    oversize: 'contract',
    encoding: 'contract',
  } as const;
  return new GatewayError(kinds[reason], operation, `no readable answer (${reason})`, { cause });
}

function writeGotNoAnswer(operation: OperationName, { reason, cause }: NoAnswer): GatewayError {
  return new GatewayError('unknown', operation, `no readable answer (${reason})`, { cause });
}

function statusError(operation: OperationName, answer: Answer): GatewayError {
  const { status } = answer;
  const refusal = refusalOf(answer);
  return new GatewayError(readStatusKind(answer), operation, `status ${status}`, {
    status,
    refusal,
    ...(status === 503 && pauseAsked(answer)),
  });
}

function readStatusKind(answer: Answer) {
  if (answer.status >= 500) return 'unavailable';
  if (answer.status === 408) return 'timeout';
  return isWordedRefusal(answer) ? 'refused' : 'contract';
}

/** The statuses that are about the sender or its rate; a sign-in's 401 and 403 are about the input. */
export function commonRefusal(operation: OperationName, answer: Answer): GatewayError | null {
  const { status } = answer;
  if (status !== 401 && status !== 403 && status !== 429) return null;
  if (status !== 429 && OPERATIONS[operation].errors === 'sign-in') return null;
  const details = { status, refusal: refusalOf(answer) };
  if (status === 401) return new GatewayError('unauthenticated', operation, 'status 401', details);
  if (status === 403) return new GatewayError('forbidden', operation, 'status 403', details);
  return new GatewayError('rate-limited', operation, 'status 429', {
    ...details,
    ...pauseAsked(answer),
  });
}

// A longer wait is the mistake of a wrong clock, not a plan.
const LONGEST_SECONDS = 3_600;

/**
 * Parses `Retry-After` as seconds, or as a date by the gateway's clock, whose present is the answer's own `Date`; null
 * where it is absent or invalid.
 */
export function retryAfterSeconds({ headers, sentAtMs }: Answer): number | null {
  const value = headers['retry-after']?.trim();
  if (!value) return null;
  const gatewayMs = Date.parse(headers.date ?? '');
  const nowMs = Number.isNaN(gatewayMs) ? sentAtMs : gatewayMs;
  const seconds = /^\d+$/.test(value)
    ? Number(value)
    : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), LONGEST_SECONDS);
}

/** For the details of an error. */
function pauseAsked(answer: Answer): { readonly retryAfterSeconds?: number } {
  const seconds = retryAfterSeconds(answer);
  return seconds === null ? {} : { retryAfterSeconds: seconds };
}
