import { systemClock } from '../lib/clock.ts';
import { jsonOf } from './answer-body.ts';
import { classify, isSuccess } from './classify.ts';
import { GatewayError, type GatewayErrorKind } from './errors.ts';
import type { Answer, Exchange } from './exchange.ts';
import { isSignIn, type OperationTraits } from './operation.ts';
import { type GatewayRefusal, hasErrorBody, refusalOf, toRefusal } from './refusal.ts';
import { isRow, type Row } from './wire/scalars.ts';

/** The traits that decide about an answer. */
type Judged = Pick<OperationTraits, 'name' | 'errors'>;

/** The outcome of a small write that the gateway answered. */
export type Acknowledgement =
  | { readonly outcome: 'acknowledged' }
  | { readonly outcome: 'rejected'; readonly refusal: GatewayRefusal };

/** Returns a read's answer where the status is 2xx (or 304), and throws the reason otherwise. */
export function judgeRead(operation: string, exchange: Exchange): Answer {
  const { error } = classify(exchange);
  if (error !== null || !exchange.sent || !exchange.answered) throw failure(operation, exchange);
  return exchange;
}

/** Returns the outcome of a small write. In doubt it is `unknown`: whether to retry is the client's choice. */
export function judgeWrite(operation: Judged, exchange: Exchange): Acknowledgement {
  const answer = answerOf(operation, exchange, 'unknown');
  const body = jsonOf(answer);
  if (isSuccess(answer.status) && isRow(body)) {
    if (body.success === true) return { outcome: 'acknowledged' };
    if (body.success === false || isSignInRefusal(operation, body)) {
      return { outcome: 'rejected', refusal: toRefusal(body) };
    }
  }
  if (isAboutTheRequest(operation, answer.status)) {
    return { outcome: 'rejected', refusal: toRefusal(body) };
  }
  throw new GatewayError(
    'unknown',
    operation.name,
    `status ${answer.status} and no verdict in it`,
    {
      status: answer.status,
      ...(answer.status === 503 && { retryAfterSeconds: retryAfterSeconds(answer) }),
    },
  );
}

export function contractError(operation: string, message: string): GatewayError {
  return new GatewayError('contract', operation, message);
}

/**
 * Whether a status is about the request itself, once those about its sender and its rate are thrown. A proxy writes 499 where its
 * client hung up: the gateway may have carried the write out.
 */
export function isAboutTheRequest(operation: Judged, status: number): boolean {
  if (status === 499) return isSignIn(operation);
  return status >= 400 && status <= 499 && status !== 408;
}

/** A sign-in is also refused by a 200 that names an error. */
function isSignInRefusal(operation: Judged, body: Row): boolean {
  return isSignIn(operation) && typeof body.error === 'string';
}

/** The answer of a call, unless its status is about the sender or its rate. */
export function answerOf(
  operation: Judged,
  exchange: Exchange,
  unanswered?: GatewayErrorKind,
): Answer {
  if (!exchange.sent || !exchange.answered) throw failure(operation.name, exchange, unanswered);
  const refusal = commonRefusal(operation, exchange);
  if (refusal) throw refusal;
  return exchange;
}

/** The statuses that are about the sender or its rate; a sign-in's 401 and 403 are about the input. */
export function commonRefusal(operation: Judged, answer: Answer): GatewayError | null {
  const { status } = answer;
  const isAboutSender = status === 401 || status === 403;
  if (isAboutSender && isSignIn(operation)) return null;
  return isAboutSender || status === 429 ? failure(operation.name, answer) : null;
}

/** `unanswered`: the kind of the error without an answer, if it is not that of a read. */
export function failure(
  operation: string,
  exchange: Exchange,
  unanswered?: GatewayErrorKind,
): GatewayError {
  const { error } = classify(exchange);
  const kind = error ?? 'contract';
  if (!exchange.sent) {
    const details = { cause: exchange.cause, wasSent: false };
    return new GatewayError(kind, operation, 'never sent', details);
  }
  if (!exchange.answered) {
    const { reason, cause } = exchange;
    const message = `no readable answer (${reason})`;
    return new GatewayError(unanswered ?? kind, operation, message, { cause });
  }
  const { status } = exchange;
  const isForeign = kind === 'refused' && !hasErrorBody(exchange);
  return new GatewayError(isForeign ? 'contract' : kind, operation, `status ${status}`, {
    status,
    refusal: refusalOf(exchange),
    ...((status === 429 || status === 503) && { retryAfterSeconds: retryAfterSeconds(exchange) }),
  });
}

// A longer wait is the mistake of a wrong clock, not a plan.
const MAX_SECONDS = 3_600;

/** `Retry-After` in seconds; a date counts from the answer's own `Date`. Null where it is absent or invalid. */
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
