import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gunzip, gzip, inflate } from 'node:zlib';

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

const unpackers = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

export class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

/** Decompresses up to `maxBytes`: a few kilobytes on the wire can expand to gigabytes. */
export async function unpack(
  packed: Buffer,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Buffer> {
  const name = encoding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return packed;
  if (!Object.hasOwn(unpackers, name)) throw new Error('an encoding that was not asked for');
  try {
    return await unpackers[name as keyof typeof unpackers](packed, { maxOutputLength: maxBytes });
  } catch (error) {
    if (error instanceof RangeError) throw new OversizeError('the unpacked answer is too large');
    throw error;
  }
}
