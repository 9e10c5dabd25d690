import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';
export type Body = string | Buffer;

/** Below this size, compression costs more than it saves. */
export const PACK_FROM_BYTES = 1024;

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Compresses off the event loop, in the thread pool. */
export function pack(body: Body, encoding: Encoding): Promise<Buffer> {
  return encoding === 'gzip' ? compressGzip(body) : compressBrotli(body, BROTLI);
}
