import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../lib/byte-collector.ts';
import { parseExactJson } from '../../lib/json.ts';

// An ordinary segment has 1,400 bytes; a sender that writes single lines sends a few dozen bytes at a time.
const FREE_PIECES = 1_024;
const BYTES_PER_PIECE = 128;

/**
 * Closes the connection if a body arrives in tiny pieces: a small piece costs as much as a large one. Its listener also
 * discards a body that no route reads.
 */
export function boundPieces(request: IncomingMessage): void {
  let pieces = 0;
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    if (pieces > FREE_PIECES + bytes / BYTES_PER_PIECE) request.socket.destroy();
  });
}

/** Resolves with the whole body, or with null if it is too large. Does not resolve if the connection closes before. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    resolve(null);
    return promise;
  }
  const collector = new ByteCollector(maxBytes);
  request.on('data', (piece: Buffer) => {
    if (!collector.add(piece)) resolve(null);
  });
  request.on('end', () => {
    // Node parses what it has read to the end, even from a destroyed socket.
    if (!request.socket.destroyed) resolve(collector.take());
  });
  // An early read makes Node pass the body on as it is parsed, without a list of its pieces.
  request.read(0);
  return promise;
}

/** The parameters in the body of a POST. Throws if the body is not JSON. */
export function jsonOf(body: Buffer): unknown {
  // Some clients begin the body with U+FEFF, which JSON does not allow.
  return parseExactJson(body.toString().replace(/^\ufeff/, ''));
}

/** The parameters of a GET. Throws if one of them is not JSON. */
export function paramsOf(url: string): Record<string, unknown> {
  const start = url.indexOf('?');
  const query = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) {
    const value = query.get(name);
    if (value) params[name] = value;
  }
  for (const name of ['variables', 'extensions']) {
    const value = query.get(name);
    if (value) params[name] = parseExactJson(value);
  }
  return params;
}
