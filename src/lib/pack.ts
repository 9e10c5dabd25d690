import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';

/** Compression level: low for one reader, high where many share the result. */
export type Effort = 'quick' | 'thorough';

const QUALITY = { quick: 4, thorough: 5 };
const LEVEL = { quick: constants.Z_DEFAULT_COMPRESSION, thorough: 6 };

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Compresses off the event loop, in the thread pool. */
export function pack(body: string | Buffer, encoding: Encoding, effort: Effort): Promise<Buffer> {
  if (encoding === 'gzip') return compressGzip(body, { level: LEVEL[effort] });
  return compressBrotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: QUALITY[effort] } });
}
