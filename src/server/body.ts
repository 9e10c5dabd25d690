import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

export class PayloadTooLargeError extends Error {
  override readonly name = 'PayloadTooLargeError';
}

export class UnreadableBodyError extends Error {
  override readonly name = 'UnreadableBodyError';
}

/** The whole body, unpacked; the bound counts what comes out, so that a bomb stops at its first bytes. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxBytes) throw new PayloadTooLargeError('announced');
  const unpacked = unpacker(request);
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of unpacked) {
      length += chunk.length;
      if (length > maxBytes) throw new PayloadTooLargeError('received');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof PayloadTooLargeError) throw error;
    throw new UnreadableBodyError('the body cannot be read', { cause: error });
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function unpacker(request: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  switch (encoding) {
    case 'identity':
      return request;
    case 'gzip':
      return request.pipe(createGunzip());
    case 'deflate':
      return request.pipe(createInflate());
    case 'br':
      return request.pipe(createBrotliDecompress());
    default:
      throw new UnreadableBodyError('the content encoding is not known');
  }
}
