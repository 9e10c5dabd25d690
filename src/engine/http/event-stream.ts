import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ExecutionResult } from 'graphql';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import type { Operation } from '../admission/operation.ts';
import { sendableNow } from '../execution/pipeline.ts';
import type { Framing, StreamFormat } from './formats.ts';
import type { HttpReply } from './reply.ts';

/** The body of a subscription's response, or of an answer in parts. */
export class EventStream {
  readonly #framing: Framing;
  readonly #reply: HttpReply;
  readonly #response: ServerResponse;
  readonly #pings: NodeJS.Timeout;

  constructor(reply: HttpReply, pingMs: number, format: StreamFormat) {
    const { contentType, framing } = format;
    this.#framing = framing;
    this.#reply = reply;
    reply.set('content-type', contentType);
    reply.set('x-accel-buffering', 'no');
    this.#response = reply.begin(200);
    // Some browsers do not pass the response to the page before its first bytes.
    this.#write(framing.begin + framing.ping);
    this.#pings = setInterval(() => this.#ping(), pingMs);
  }

  /**
   * Sends the results until there are no more, or the client disconnects. `first` is a result that has been read already. The
   * next event is read when the client has read enough, so a slow client gets one merged event.
   */
  async send(
    results: AsyncIterableIterator<ExecutionResult>,
    operation: Operation,
    first?: IteratorResult<ExecutionResult>,
  ): Promise<void> {
    const { head, end, complete } = this.#framing;
    // A quiet feed must not be followed until its next event when the client has disconnected.
    const leave = () => fireAndForget('results', Promise.resolve(results.return?.()));
    this.#response.once('close', leave);
    // The client may have disconnected before the listener was added.
    if (this.#response.destroyed) leave();
    try {
      for (let next = first ?? (await results.next()); !next.done; next = await results.next()) {
        const sendable = sendableNow(next.value, operation);
        if (sendable === null) continue;
        this.#reply.summary.results += 1;
        this.#write(head + JSON.stringify(sendable) + end);
        await this.#drained();
      }
    } finally {
      clearInterval(this.#pings);
    }
    this.#write(complete);
    this.#response.end();
  }

  restart(): void {
    this.#response.destroy();
  }

  /** Resolves when the client has read enough, or has disconnected. */
  async #drained(): Promise<void> {
    if (!this.#response.writableNeedDrain) return;
    const { disconnected: signal } = this.#reply;
    await once(this.#response, 'drain', { signal }).catch(() => {});
  }

  /** Keeps proxies from closing a quiet connection, and detects a client that has disconnected. */
  #ping(): void {
    if (!this.#response.writableNeedDrain) this.#write(this.#framing.ping);
  }

  #write(text: string): void {
    if (text === '' || this.#response.destroyed) return;
    this.#reply.summary.bytesOut += Buffer.byteLength(text);
    this.#response.write(text);
  }
}
