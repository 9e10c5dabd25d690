import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { ByteCollector } from '../../lib/byte-collector.ts';

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

const PASS_OVER_MS = 1_000;

export interface BodyTaker {
  readonly maxBytes: number;
  taken(body: Buffer): void;
  failed(error: unknown): void;
}

/**
 * Passes on the whole body, decompressed, or the error. The limit counts decompressed bytes, so that
 * a zip bomb stops early.
 */
export function takeBody(request: IncomingMessage, taker: BodyTaker): void {
  let source: Readable = request;
  const failed = (error: unknown) => {
    if (source !== request) source.destroy();
    passOver(request);
    taker.failed(error);
  };
  try {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > taker.maxBytes) throw new PayloadTooLargeError('announced');
    source = unpacker(request);
  } catch (error) {
    failed(error);
    return;
  }
  collect(source, taker.maxBytes, taker, failed);
}

/**
 * Closing a connection while the client still sends resets it, and the client loses the response that
 * says why. So the rest of the body is discarded, if it comes soon.
 */
function passOver(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
  const cut = setTimeout(() => request.complete || request.socket.destroy(), PASS_OVER_MS);
  request.once('close', () => clearTimeout(cut));
}

function collect(
  source: Readable,
  maxBytes: number,
  taker: BodyTaker,
  failed: (error: unknown) => void,
): void {
  const collector = new ByteCollector({ maxBytes });
  let isOver = false;
  const broken = (cause?: unknown) => {
    if (isOver) return;
    isOver = true;
    failed(new UnreadableBodyError('the body cannot be read', { cause }));
  };
  source.on('data', (chunk: Buffer) => {
    if (isOver) return;
    const collected = collector.add(chunk);
    if (collected === 'kept') return;
    isOver = true;
    source.pause();
    failed(
      collected === 'too many bytes'
        ? new PayloadTooLargeError('received')
        : new TooManyPiecesError('received'),
    );
  });
  source.on('end', () => {
    if (isOver) return;
    isOver = true;
    taker.taken(collector.take());
  });
  source.on('error', broken);
  source.on('close', broken);
}

function unpacker(request: IncomingMessage): Readable {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  switch (encoding) {
    case 'identity':
      return request;
    case 'gzip':
      return through(request, createGunzip());
    case 'deflate':
      return through(request, createInflate());
    case 'br':
      return through(request, createBrotliDecompress());
    default:
      throw new UnreadableBodyError('the content encoding is not known');
  }
}

/** An aborted request must end its decompression, which would wait for ever. */
function through(request: IncomingMessage, unpacking: Transform): Readable {
  request.once('close', () => {
    if (!request.complete) unpacking.destroy();
  });
  return request.pipe(unpacking);
}
