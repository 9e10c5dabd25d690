import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../../lib/byte-collector.ts';
import { OversizeError, unpack } from '../../../lib/unpack.ts';

/** Why the body of a request was not taken. */
export type BodyFault = 'too large' | 'unreadable';

// An ordinary segment has 1,400 bytes; a sender that writes single lines sends a few dozen bytes at a time.
const FREE_PIECES = 1_024;
const BYTES_PER_PIECE = 128;

/**
 * Calls `onPieces` if a body arrives in pieces that are too small on average, because a small piece costs as much as a large
 * one. It also discards what no one else reads: if the connection closed while its client still sends, the response would be
 * lost. Node closes the connection when the request takes too long.
 */
export function watchBody(request: IncomingMessage, onPieces: () => void): void {
  let pieces = 0;
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    // Node continues to parse what it has read from a destroyed connection.
    const isTooSmall = pieces > FREE_PIECES + bytes / BYTES_PER_PIECE;
    if (isTooSmall && !request.socket.destroyed) onPieces();
  });
}

/**
 * Passes on the whole body, unpacked, or the reason why it was not taken. `maxBytes` bounds it both as it arrives and
 * unpacked.
 */
export function takeBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (taken: Buffer | BodyFault) => void,
): void {
  const { 'content-length': announced, 'content-encoding': encoding } = request.headers;
  const collector = new ByteCollector(maxBytes);
  let isOver = false;
  const end = (taken: Buffer | BodyFault) => {
    if (isOver) return;
    isOver = true;
    done(taken);
  };
  if (Number(announced ?? 0) > maxBytes) {
    end('too large');
    return;
  }
  request.on('data', (piece: Buffer) => {
    // Further pieces must not close a gap: a body without some of its bytes may be another request.
    if (!isOver && (request.socket.destroyed || !collector.add(piece))) end('too large');
  });
  request.on('end', () => {
    if (isOver) return;
    const bytes = collector.take();
    if (encoding === undefined) end(bytes);
    else {
      unpack(bytes, encoding, maxBytes).then(end, (cause: unknown) =>
        end(cause instanceof OversizeError ? 'too large' : 'unreadable'),
      );
    }
  });
  request.on('error', () => end('unreadable'));
  // An early read makes Node pass the body on as it is parsed, without a list of its pieces.
  request.read(0);
}
