import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

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
