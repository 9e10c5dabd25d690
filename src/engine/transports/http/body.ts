import type { IncomingMessage } from 'node:http';
import { ByteCollector, tooManyPieces } from '../../../lib/byte-collector.ts';
import { OversizeError, unpack } from '../../../lib/unpack.ts';
import { hasBody } from '../requests/has-body.ts';

/** Why the body of a request was not taken. */
export type BodyFault = 'too large' | 'unreadable';

/**
 * Passes on the whole body, unpacked, or the reason why it was not taken. `maxBytes` bounds it both as it arrives and
 * unpacked. If it arrives in too many pieces, `onPieces` is called instead.
 */
export function takeBody(
  request: IncomingMessage,
  maxBytes: number,
  onPieces: () => void,
  done: (taken: Buffer | BodyFault) => void,
): void {
  const { 'content-length': announced, 'content-encoding': encoding } = request.headers;
  const collector = new ByteCollector({ maxBytes });
  let isOver = false;
  const fail = (fault: BodyFault) => {
    if (isOver) return;
    isOver = true;
    done(fault);
  };
  if (Number(announced ?? 0) > maxBytes) {
    fail('too large');
    return;
  }
  request.on('data', (piece: Buffer) => {
    if (isOver) return;
    const collected = collector.add(piece);
    if (collected === 'too many bytes') fail('too large');
    if (collected === 'too many pieces') {
      isOver = true;
      onPieces();
    }
  });
  request.on('end', () => {
    if (isOver) return;
    isOver = true;
    const bytes = collector.take();
    if (encoding === undefined) done(bytes);
    else {
      unpack(bytes, encoding, maxBytes).then(done, (cause: unknown) =>
        done(cause instanceof OversizeError ? 'too large' : 'unreadable'),
      );
    }
  });
  request.on('error', () => fail('unreadable'));
  request.on('close', () => fail('unreadable'));
  // An early read makes Node pass the body on as it is parsed, without a list of its pieces.
  request.read(0);
}

/**
 * Discards the rest of the body of an answered request: if the connection closed while its client still sends, the response
 * would be lost. Node closes the connection when the request takes too long.
 */
export function discardBody(request: IncomingMessage, onPieces: () => void): void {
  if (request.complete || !hasBody(request)) return;
  let pieces = 0;
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    // Node continues to parse what it has read from a destroyed connection.
    if (!request.socket.destroyed && tooManyPieces(pieces, bytes)) onPieces();
  });
}
