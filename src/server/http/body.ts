import type { IncomingMessage } from 'node:http';
import { ByteCollector, type Collected } from '../../lib/byte-collector.ts';
import { OversizeError, unpack } from '../../lib/unpack.ts';
import type { ReceiveBuffer } from '../receive/receive-buffer.ts';

export class PayloadTooLargeError extends Error {
  override readonly name = 'PayloadTooLargeError';
}

/** The body comes in more pieces than its size explains. */
export class TooManyPiecesError extends Error {
  override readonly name = 'TooManyPiecesError';
}

export class UnreadableBodyError extends Error {
  override readonly name = 'UnreadableBodyError';
}

/** As long as the head of a request may take. */
const PASS_OVER_MS = 10_000;

export interface BodyTaker {
  /** The most bytes, as they come and unpacked. */
  readonly maxBytes: number;
  readonly received: ReceiveBuffer;
  taken(body: Buffer): void;
  failed(error: unknown): void;
}

/** Passes on the whole body, unpacked, or the error. */
export function takeBody(request: IncomingMessage, taker: BodyTaker): void {
  const collector = new ByteCollector({ maxBytes: taker.maxBytes });
  let isOver = false;
  const fail = (error: unknown) => {
    isOver = true;
    taker.received.requestTaken(request);
    if (!(error instanceof TooManyPiecesError)) passOver(request);
    taker.failed(error);
  };
  const broken = (cause?: unknown) => {
    // Every request is closed: an error, with its stack, is made for those alone that were not read.
    if (!isOver) fail(unreadable(cause));
  };
  const announcedBytes = Number(request.headers['content-length'] ?? Number.NaN);
  if (announcedBytes > taker.maxBytes) {
    fail(new PayloadTooLargeError('announced'));
    return;
  }
  request.on('data', (piece: Buffer) => {
    if (isOver) return;
    const collected = collector.add(piece);
    if (collected !== 'kept') fail(refusal(collected));
  });
  request.on('end', () => {
    if (isOver) return;
    isOver = true;
    taker.received.requestTaken(request);
    handOn(collector.take(), request.headers['content-encoding'], taker);
  });
  request.on('error', broken);
  request.on('close', broken);
}

/**
 * Closing a connection while the client still sends resets it, and the client loses the response that
 * says why. So the rest of the body is discarded, if it comes soon.
 */
function passOver(request: IncomingMessage): void {
  request.resume();
  const cut = setTimeout(() => request.complete || request.socket.destroy(), PASS_OVER_MS);
  request.once('close', () => clearTimeout(cut));
}

function handOn(bytes: Buffer, encoding: string | undefined, taker: BodyTaker): void {
  if (encoding === undefined) {
    taker.taken(bytes);
    return;
  }
  unpack(bytes, encoding, taker.maxBytes).then(
    (body) => taker.taken(body),
    (error: unknown) =>
      taker.failed(
        error instanceof OversizeError ? new PayloadTooLargeError('unpacked') : unreadable(error),
      ),
  );
}

function refusal(collected: Collected): Error {
  return collected === 'too many bytes'
    ? new PayloadTooLargeError('received')
    : new TooManyPiecesError('received');
}

function unreadable(cause: unknown): UnreadableBodyError {
  return new UnreadableBodyError('the body cannot be read', { cause });
}
