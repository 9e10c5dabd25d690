import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export class PayloadTooLargeError extends Error {
  override readonly name = 'PayloadTooLargeError';
}

export class UnreadableBodyError extends Error {
  override readonly name = 'UnreadableBodyError';
}

const PASS_OVER_MS = 1_000;

/** The whole body, unpacked; the bound counts what comes out, so that a bomb stops at its first bytes. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  let source: Readable = request;
  try {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > maxBytes) throw new PayloadTooLargeError('announced');
    source = unpacker(request);
    return await collect(source, maxBytes);
  } catch (error) {
    if (source !== request) source.destroy();
    passOver(request);
    throw error;
  }
}

/**
 * A connection that is closed while the client still sends is reset, and takes the answer along that
 * says why. So the rest is let by, unread, if it comes soon.
 */
function passOver(request: IncomingMessage): void {
  request.unpipe();
  request.resume();
  const cut = setTimeout(() => request.complete || request.socket.destroy(), PASS_OVER_MS);
  request.once('close', () => clearTimeout(cut));
}

function collect(source: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    function take(chunk: Buffer): void {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      source.off('data', take);
      source.pause();
      reject(new PayloadTooLargeError('received'));
    }
    source.on('data', take);
    const broken = (cause?: unknown) =>
      reject(new UnreadableBodyError('the body cannot be read', { cause }));
    source.once('end', () => {
      // Every request closes in the end: an error made then, for nobody, would cost its stack trace.
      source.off('close', broken);
      const [first, ...others] = chunks;
      resolve(first && others.length === 0 ? first : Buffer.concat(chunks));
    });
    source.once('error', broken);
    source.once('close', broken);
  });
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

/** A request that breaks off must end the unpacking of it, which would wait for ever. */
function through(request: IncomingMessage, unpacking: Transform): Readable {
  request.once('close', () => {
    if (!request.complete) unpacking.destroy();
  });
  return request.pipe(unpacking);
}
