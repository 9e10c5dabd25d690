import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../../lib/byte-collector.ts';

// An ordinary segment has 1,400 bytes; a sender that writes single lines sends a few dozen bytes at a time.
const FREE_PIECES = 1_024;
const BYTES_PER_PIECE = 128;

/**
 * Passes on the whole body, or null if it is too large. Passes on nothing if the connection closes. Node closes it if the
 * body takes too long.
 */
export function takeBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (body: Buffer | null) => void,
): void {
  const collector = new ByteCollector(maxBytes);
  let pieces = 0;
  let bytes = 0;
  let isOver = false;
  const end = (body: Buffer | null) => {
    if (isOver) return;
    isOver = true;
    done(body);
  };
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    // Node discards the body when the refusal has been sent.
    end(null);
    return;
  }
  request.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    if (pieces > FREE_PIECES + bytes / BYTES_PER_PIECE) {
      // A small piece costs as much as a large one. Node continues to parse what it has read, but a body without some of
      // its bytes may be another request.
      isOver = true;
      request.socket.destroy();
    } else if (!isOver && !collector.add(piece)) end(null);
  });
  request.on('end', () => end(collector.take()));
  // An early read makes Node pass the body on as it is parsed, without a list of its pieces.
  request.read(0);
}
