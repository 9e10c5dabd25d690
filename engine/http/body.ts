import type { IncomingMessage } from 'node:http';
import { ByteCollector } from '../../lib/byte-collector.ts';
import { OversizeError, unpack } from '../../lib/unpack.ts';
import type { ReceiveBuffer } from '../receive/receive-buffer.ts';

/** Why the body of a request was not taken; `too many pieces`: more than its size explains. */
export type BodyFault = 'too large' | 'too many pieces' | 'unreadable';

/** As long as the head of a request may take. */
const PASS_OVER_MS = 10_000;

export interface BodyTaker {
  /** The most bytes, as they come and unpacked. */
  readonly maxBytes: number;
  readonly received: ReceiveBuffer;
  taken(body: Buffer): void;
  failed(fault: BodyFault): void;
}

/** Passes on the whole body, unpacked, or why it was not taken. */
export function takeBody(request: IncomingMessage, taker: BodyTaker): void {
  const collector = new ByteCollector({ maxBytes: taker.maxBytes });
  let isOver = false;
  const fail = (fault: BodyFault) => {
    isOver = true;
    taker.received.requestTaken(request);
    if (fault !== 'too many pieces') passOver(request);
    taker.failed(fault);
  };
  const broken = () => {
    if (!isOver) fail('unreadable');
  };
  const announcedBytes = Number(request.headers['content-length'] ?? Number.NaN);
  if (announcedBytes > taker.maxBytes) {
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
    taker.received.requestTaken(request);
    handOn(collector.take(), request.headers['content-encoding'], taker);
  });
  request.on('error', broken);
  request.on('close', broken);
}

/**
 * Closing a connection while the client still sends resets it, and the client loses the response that
 * says why. So the rest of the body is discarded, if it comes soon.
 */
function passOver(request: IncomingMessage): void {
  request.resume();
  const cut = setTimeout(() => request.complete || request.socket.destroy(), PASS_OVER_MS);
  request.once('close', () => clearTimeout(cut));
}

function handOn(bytes: Buffer, encoding: string | undefined, taker: BodyTaker): void {
  if (encoding === undefined) {
    taker.taken(bytes);
    return;
  }
  unpack(bytes, encoding, taker.maxBytes).then(
    (body) => taker.taken(body),
    (cause: unknown) => taker.failed(cause instanceof OversizeError ? 'too large' : 'unreadable'),
  );
}
