import type { ServerResponse } from 'node:http';
import { fireAndForget } from '../../../lib/fire-and-forget.ts';
import { type Body, isChunks } from '../../../lib/pack.ts';
import { GzipSegments, PackedText } from '../../../lib/packed-text.ts';
import type { RequestSummary } from '../../operation/request-summary.ts';
import type { EventText, OperationEvents, ResultSink } from '../../operation/result-sink.ts';
import { FRAMINGS, type Framing } from './framings.ts';
import type { StreamType } from './negotiation.ts';
import type { HttpReply } from './reply.ts';

// Some proxies close a connection that was quiet for a minute; more pings than that would wake a phone's radio between its events.
const QUIET_PINGS = 2.5;

/** The body of a subscription's response, or of an answer in parts. */
export class EventStream implements ResultSink {
  readonly takesPacked: boolean;
  readonly #framing: Framing;
  readonly #response: ServerResponse;
  readonly #summary: RequestSummary;
  readonly #gzip: GzipSegments | null;
  readonly #quietMs: number;
  readonly #pings: NodeJS.Timeout;
  #lastWriteAtMs = Number.NEGATIVE_INFINITY;

  constructor(reply: HttpReply, summary: RequestSummary, pingMs: number, type: StreamType) {
    this.takesPacked = reply.takesGzip;
    this.#framing = FRAMINGS[type];
    reply.set('content-type', this.#framing.contentType);
    reply.set('x-accel-buffering', 'no');
    if (this.takesPacked) reply.set('content-encoding', 'gzip');
    this.#response = reply.begin(200);
    this.#summary = summary;
    this.#gzip = this.takesPacked ? new GzipSegments() : null;
    // An answer in parts begins with its first one.
    if (this.#framing.ping.length === 0) this.#response.cork();
    if (this.#gzip !== null) this.#write(this.#gzip.begin());
    // Some browsers hand the response to the page with its first bytes only.
    const first = Buffer.concat([this.#framing.begin, this.#framing.ping]);
    if (first.length > 0) this.#piece(first);
    this.#quietMs = QUIET_PINGS * pingMs;
    this.#pings = setInterval(() => this.#ping(), pingMs);
  }

  /** Sends the events until there are no more, or the client disconnects. */
  async carry(followed: OperationEvents): Promise<void> {
    const delivery = followed.deliver(this);
    // A quiet feed would be followed until its next event.
    const leave = () => fireAndForget('response', delivery.return());
    this.#response.once('close', leave);
    try {
      // The client may have disconnected before the listener was added.
      if (this.#response.destroyed) leave();
      else await delivery.next();
    } finally {
      clearInterval(this.#pings);
    }
    if (this.#response.destroyed) return;
    this.#piece(this.#framing.complete);
    this.#response.end(this.#gzip?.end());
  }

  restart(): void {
    this.#response.destroy();
  }

  hasRoom(ready: () => void): boolean {
    if (!this.#response.writableNeedDrain) return true;
    this.#response.once('drain', ready);
    return false;
  }

  send(result: EventText, left: () => void): void {
    const bytes = this.#encoded(result);
    this.#summary.sent(bytes.length);
    this.#write(bytes, left);
    if (this.#response.writableCorked > 0) this.#response.uncork();
  }

  /** Keeps proxies from closing a quiet connection, and finds out about a client that is gone; each event does as well. */
  #ping(): void {
    if (this.#framing.ping.length === 0) return;
    if (performance.now() - this.#lastWriteAtMs < this.#quietMs) return;
    if (!this.#response.writableNeedDrain) this.#piece(this.#framing.ping);
  }

  /** Sends what is no event. */
  #piece(bytes: Buffer): void {
    const piece = this.#gzip?.stored(bytes) ?? bytes;
    this.#summary.bytesOut += piece.length;
    this.#write(piece);
  }

  #write(bytes: Uint8Array, left?: () => void): void {
    // Bytes that cannot be written do not leave: the response closes, and the delivery ends.
    if (this.#response.destroyed) return;
    this.#lastWriteAtMs = performance.now();
    this.#response.write(bytes, (error) => {
      if (!error) left?.();
    });
  }

  #encoded(result: EventText): Buffer {
    const gzip = this.#gzip;
    const { head, end } = this.#framing;
    if (result instanceof PackedText) {
      if (gzip === null) throw new Error('the client does not unpack');
      return Buffer.concat([gzip.stored(head), gzip.packed(result), gzip.stored(end)]);
    }
    const parts = typeof result === 'string' ? [Buffer.from(result)] : result;
    const plain = Buffer.concat([head, ...parts, end]);
    return gzip?.stored(plain) ?? plain;
  }
}

/** The body of a stream with one result. */
export function asOnlyEvent(result: Body, type: StreamType): Body {
  const { begin, head, end, complete } = FRAMINGS[type];
  if (typeof result === 'string') return `${begin}${head}${result}${end}${complete}`;
  const chunks = isChunks(result) ? result : [result];
  return [begin, head, ...chunks, end, complete];
}
