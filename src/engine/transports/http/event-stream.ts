import type { ServerResponse } from 'node:http';
import type { RequestSummary } from '../../operation/request-summary.ts';
import type { JsonText, OperationEvents, ResultSink } from '../../operation/result-sink.ts';
import type { Framing, StreamFormat } from './formats.ts';
import type { HttpReply } from './reply.ts';

/** The body of a subscription's response, or of an answer in parts. */
export class EventStream implements ResultSink {
  readonly #framing: Framing;
  readonly #response: ServerResponse;
  readonly #summary: RequestSummary;
  readonly #pings: NodeJS.Timeout;

  constructor(reply: HttpReply, pingMs: number, format: StreamFormat) {
    const { contentType, framing } = format;
    this.#framing = framing;
    reply.set('content-type', contentType);
    reply.set('x-accel-buffering', 'no');
    this.#response = reply.begin(200);
    this.#summary = reply.summary;
    // Some browsers do not pass the response to the page before its first bytes.
    this.#write(framing.begin + framing.ping);
    this.#pings = setInterval(() => this.#ping(), pingMs);
  }

  /** Sends the events until there are no more, or the client disconnects. */
  async deliver(followed: OperationEvents): Promise<void> {
    // A quiet feed must not be followed until its next event when the client has disconnected.
    this.#response.once('close', () => followed.leave());
    try {
      // The client may have disconnected before the listener was added.
      if (this.#response.destroyed) followed.leave();
      else await followed.deliver(this);
    } finally {
      clearInterval(this.#pings);
    }
    this.#write(this.#framing.complete);
    this.#response.end();
  }

  restart(): void {
    this.#response.destroy();
  }

  hasRoom(ready: () => void): boolean {
    if (!this.#response.writableNeedDrain) return true;
    this.#response.once('drain', ready);
    return false;
  }

  send(result: JsonText, done: () => void): void {
    const { head, end } = this.#framing;
    this.#summary.results += 1;
    this.#write(head + result + end, done);
  }

  /** Keeps proxies from closing a quiet connection, and detects a client that has disconnected. */
  #ping(): void {
    if (!this.#response.writableNeedDrain) this.#write(this.#framing.ping);
  }

  #write(bytes: string | Buffer, done?: () => void): void {
    // `done` is not called for unwritten bytes: the response closes, and the delivery ends.
    if (bytes.length === 0 || this.#response.destroyed) return;
    this.#summary.bytesOut += Buffer.byteLength(bytes);
    this.#response.write(bytes, (error) => {
      if (!error) done?.();
    });
  }
}
