import type { IncomingMessage } from 'node:http';
import { ByteCollector, tooManyPieces } from '../../../lib/byte-collector.ts';
import { OversizeError, unpack } from '../../../lib/unpack.ts';
import { hasBody } from '../requests/has-body.ts';

/** The reason why the body of a request is not taken; `too many pieces`: more than its size explains. */
export type BodyFault = 'too large' | 'too many pieces' | 'unreadable';

/** The time is that of a request's head. */
const DISCARD_MS = 10_000;

/** Passes on the whole body, unpacked, or why it was not taken. `maxBytes`: the most, as they come and unpacked. */
export function takeBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (taken: Buffer | BodyFault) => void,
): void {
  const { 'content-length': announced, 'content-encoding': encoding } = request.headers;
  const collector = new ByteCollector({ maxBytes });
  let isOver = false;
  const fail = (fault: BodyFault) => {
    if (isOver) return;
    isOver = true;
    if (fault === 'too many pieces') request.socket.pause();
    done(fault);
  };
  const broken = () => fail('unreadable');
  if (Number(announced ?? Number.NaN) > maxBytes) {
    fail('too large');
    return;
  }
  request.on('data', (piece: Buffer) => {
    if (isOver) return;
    const collected = collector.add(piece);
    if (collected === 'too many bytes') fail('too large');
    else if (collected === 'too many pieces') fail(collected);
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
  request.on('error', broken);
  request.on('close', broken);
  // Asked for before it comes, a body is handed on as it is parsed: Node neither lists it, nor clears up behind it.
  request.read(0);
}

/**
 * Discards the rest of the body of a request that is answered. A connection that closed at once, while its client still sends,
 * would lose the response. It is closed after a while, or when the body comes in too many pieces (`onPieces`).
 */
export function discardBody(request: IncomingMessage, onPieces: () => void): void {
  const { socket, complete } = request;
  if (complete || socket.isPaused() || !hasBody(request)) return;
  let pieces = 0;
  let bytes = 0;
  request.on('data', (piece: Buffer) => {
    pieces += 1;
    bytes += piece.length;
    if (!tooManyPieces(pieces, bytes) || socket.destroyed) return;
    socket.destroy();
    onPieces();
  });
  const cut = setTimeout(() => request.complete || socket.destroy(), DISCARD_MS);
  request.once('close', () => clearTimeout(cut));
}
