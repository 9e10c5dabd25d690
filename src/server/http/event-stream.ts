import type { ServerResponse } from 'node:http';
import { GzipSegments } from '../../lib/gzip-segments.ts';
import { PackedText } from '../../lib/packed-text.ts';
import type { ResultSink } from '../../plugins/live/delivery.ts';
import type { EventText } from '../../plugins/live/packed-results.ts';
import type { RequestSummary } from '../../schema/request-summary.ts';
import type { SendBuffer } from '../back-pressure/send-buffer.ts';

const HEAD = Buffer.from('event: next\ndata: ');
const END = Buffer.from('\n\n');

export interface EventStreamOptions {
  /** Whether the client unpacks gzip. */
  readonly takesPacked: boolean;
  readonly summary: RequestSummary;
}

/** The response of a subscription: its events, and the pings and the end that yoga writes in between. */
export class EventStream implements ResultSink {
  readonly takesPacked: boolean;
  readonly #summary: RequestSummary;
  readonly #gzip: GzipSegments | null;
  #open: { readonly response: ServerResponse; readonly unread: SendBuffer } | null = null;
  #whenOpen: (() => void) | null = null;

  constructor({ takesPacked, summary }: EventStreamOptions) {
    this.takesPacked = takesPacked;
    this.#summary = summary;
    this.#gzip = takesPacked ? new GzipSegments() : null;
  }

  /** The response has its headers, so events can be sent. */
  begin(response: ServerResponse, unread: SendBuffer): void {
    this.#open = { response, unread };
    if (this.#gzip !== null) response.write(this.#gzip.begin());
    this.#whenOpen?.();
  }

  hasRoom(ready: () => void): boolean {
    if (this.#open === null) {
      this.#whenOpen = ready;
      return false;
    }
    const { unread } = this.#open;
    if (unread.hasRoom()) return true;
    unread.whenRoom(ready);
    return false;
  }

  send(result: EventText, left: () => void): void {
    const bytes = this.#encoded(result);
    this.#summary.sent(bytes.length);
    this.#write(bytes, left);
  }

  /** Sends a piece of the stream that is no event; false where the next one should wait. */
  piece(bytes: Uint8Array): boolean {
    const piece = this.#gzip?.stored(bytes) ?? bytes;
    this.#summary.bytesOut += piece.length;
    return this.#write(piece);
  }

  end(): void {
    this.#open?.response.end(this.#gzip?.end());
  }

  #write(bytes: Uint8Array, left?: () => void): boolean {
    if (this.#open === null) throw new Error('an event stream is begun before its events');
    const { response, unread } = this.#open;
    if (response.destroyed) {
      left?.();
      return true;
    }
    const isTaken = response.write(bytes, () => {
      unread.measure();
      left?.();
    });
    unread.measureSoon();
    return isTaken;
  }

  #encoded(result: EventText): Buffer {
    const gzip = this.#gzip;
    if (result instanceof PackedText) {
      if (gzip === null) throw new Error('the client does not unpack');
      return Buffer.concat([gzip.stored(HEAD), gzip.packed(result), gzip.stored(END)]);
    }
    const parts = typeof result === 'string' ? [Buffer.from(result)] : result;
    const plain = Buffer.concat([HEAD, ...parts, END]);
    return gzip?.stored(plain) ?? plain;
  }
}
