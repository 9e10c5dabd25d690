import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

/** A body in one piece, or in chunks if it is large. */
export type Body = string | Buffer | readonly Buffer[];

/** Below this size, compression costs more than it saves. */
export const PACK_FROM_BYTES = 1024;

/** For a body with one reader; a shared body is worth a higher quality. */
const BROTLI_QUALITY = 4;

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Compresses off the event loop, in the thread pool. */
export function pack(
  body: Body,
  encoding: Encoding,
  brotliQuality = BROTLI_QUALITY,
): Promise<Buffer> {
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } };
  if (isChunks(body)) {
    const packing = encoding === 'gzip' ? createGzip() : createBrotliCompress(brotli);
    return buffer(Readable.from(body).pipe(packing));
  }
  return encoding === 'gzip' ? compressGzip(body) : compressBrotli(body, brotli);
}

export function bodyBytes(body: Body): number {
  if (isChunks(body)) return body.reduce((sum, { length }) => sum + length, 0);
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

export function isChunks(body: Body): body is readonly Buffer[] {
  return Array.isArray(body);
}
