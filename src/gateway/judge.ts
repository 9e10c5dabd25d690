import { systemClock } from '../lib/clock.ts';
import { isObject } from '../lib/is-object.ts';
import { jsonOf } from './answer-body.ts';
import { classify, isSuccess, type Judged } from './classify.ts';
import { GatewayError, type GatewayErrorKind } from './errors.ts';
import type { Answer, Exchange } from './exchange.ts';
import { isSignIn } from './operation.ts';
import { ACKNOWLEDGED } from './operations/acknowledged.ts';
import { type GatewayRefusal, hasErrorBody, refusalOf, toRefusal } from './refusal.ts';

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

/** Returns the outcome of a small write. Throws an `unknown` error if it is in doubt: the client decides on a retry. */
export function judgeWrite(operation: Judged, exchange: Exchange): Acknowledgement {
  const answer = answerOf(operation, exchange, 'unknown');
  const body = jsonOf(answer);
  if (isSuccess(answer.status) && isObject(body)) {
    const success = body[ACKNOWLEDGED.names.success];
    if (success === true) return { outcome: 'acknowledged' };
    const refusal = toRefusal(body);
    const isRefusedSignIn = isSignIn(operation) && refusal.error !== null;
    if (success === false || isRefusedSignIn) return { outcome: 'rejected', refusal };
  }
  if (isAboutTheRequest(operation, answer.status)) {
    return { outcome: 'rejected', refusal: toRefusal(body) };
  }
  throw new GatewayError('unknown', operation.name, `status ${answer.status} without a verdict`, {
    status: answer.status,
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
    return new GatewayError(unanswered ?? kind, name, message, { cause });
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
