import type { ExecutionResult } from 'graphql';
import type { MaybePromise } from '../../../lib/maybe-promise.ts';
import type { Refusal } from '../../operation/refusal.ts';
import { FORMATS, type Format } from './formats.ts';
import type { HttpReply } from './reply.ts';

/** Answers a refused request with the status that GraphQL over HTTP gives it. */
export function sendRefusal(
  reply: HttpReply,
  { status, headers, isWellFormed, errors }: Refusal,
  format: Format,
): MaybePromise<void> {
  reply.setAll(headers);
  const text = JSON.stringify({ errors });
  // If only the document or its variables are wrong, older clients, which do not accept `application/graphql-response+json`,
  // read the errors from a 200 alone.
  const needs200 = isWellFormed && status === 400 && format !== FORMATS.response;
  return sendResult(reply, needs200 ? 200 : status, text, format);
}

export function sendAnswer(
  reply: HttpReply,
  result: ExecutionResult,
  format: Format,
): MaybePromise<void> {
  return sendResult(reply, 200, JSON.stringify(result), format);
}

function sendResult(
  reply: HttpReply,
  status: number,
  result: string,
  format: Format,
): MaybePromise<void> {
  reply.set('content-type', format.contentType);
  if (format.framing === null) return reply.send(status, result);
  // The log and the metrics call each streamed answer `sse`, also if its format is multipart.
  reply.summary.transport = 'sse';
  const { begin, head, end, complete } = format.framing;
  return reply.send(status, begin + head + result + end + complete);
}
