import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../gateway/caller.ts';
import { Departure } from '../lib/departure.ts';
import { type Encoding, pack } from '../lib/pack.ts';
import { preferredEncoding } from './encoding.ts';
import { requestIdFrom } from './request-id.ts';
import type { Recipient, SendBuffer } from './send-buffer.ts';
import type { SendBuffers } from './send-buffers.ts';

// Below this the saving is less than the cost.
const COMPRESS_FROM_BYTES = 1024;
// A string is counted by its characters while it waits, which for small ones is near enough.
const LARGE_TEXT_BYTES = 65_536;

/** Who wants to know what becomes of replies. */
export interface ReplyWatcher {
  /** The last byte is out, or the client is gone. */
  closed(reply: Reply): void;
  failed(reply: Reply, error: unknown): void;
  readonly buffers: SendBuffers;
  /** Whoever sent the request, as far as its connection says. */
  strangerOf(request: IncomingMessage): Caller;
}

/** The answer to one HTTP request: its head as it is put together, then its body. */
export class Reply implements Recipient {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Ends what nobody waits for any more. */
  readonly gone = new Departure();
  readonly #response: ServerResponse;
  readonly #watcher: ReplyWatcher;
  /** Names and values in turn: node writes such a list without looking anything up. */
  readonly #head: string[];
  #caller: Caller | null = null;
  #unread: SendBuffer | null = null;

  constructor(request: IncomingMessage, response: ServerResponse, watcher: ReplyWatcher) {
    this.request = request;
    this.requestId = requestIdFrom(request.headers['x-request-id']);
    this.#response = response;
    this.#watcher = watcher;
    this.#head = ['x-request-id', this.requestId];
    response.on('close', () => this.#closed());
  }

  get caller(): Caller {
    this.#caller ??= { ...this.#watcher.strangerOf(this.request), signal: this.gone };
    return this.#caller;
  }

  set caller(caller: Caller) {
    this.#caller = caller;
  }

  /** What this answer's reader has not taken. */
  get unread(): SendBuffer {
    this.#unread ??= this.#watcher.buffers.open(this.request.socket, this);
    return this.#unread;
  }

  /** Begins what makes the answer, as soon as the client has taken enough of its earlier ones. */
  whenRoom(task: () => void | Promise<void>): void | Promise<void> {
    const { buffers } = this.#watcher;
    if (buffers.hasRoom(this.caller)) return task();
    return buffers.room(this.caller).then(() => (this.gone.aborted ? undefined : task()));
  }

  get isBegun(): boolean {
    return this.#response.headersSent;
  }

  get status(): number {
    return this.#response.statusCode;
  }

  /** Whatever goes wrong in `task`, somebody hears of it. */
  guard(task: () => void | Promise<void>): void {
    try {
      task()?.catch((error: unknown) => this.#watcher.failed(this, error));
    } catch (error) {
      this.#watcher.failed(this, error);
    }
  }

  set(name: string, value: string): void {
    const at = this.#find(name);
    if (at < 0) this.#head.push(name, value);
    else this.#head[at + 1] = value;
  }

  setAll(headers: Readonly<Record<string, string>>): void {
    for (const name in headers) this.set(name, headers[name] as string);
  }

  has(name: string): boolean {
    return this.#find(name) >= 0;
  }

  remove(name: string): void {
    const at = this.#find(name);
    if (at >= 0) this.#head.splice(at, 2);
  }

  /** A whole body, compressed as the client accepts; that runs off the event loop. */
  send(status: number, body: string | Buffer): void | Promise<void> {
    const bytes = sizeOf(body);
    const encoding = this.encodingFor(bytes);
    if (encoding === null) return this.#whole(status, body, bytes);
    return pack(body, encoding, 'quick').then((packed) =>
      this.sendPacked(status, packed, encoding),
    );
  }

  /** How a body of this size is to be compressed. */
  encodingFor(bytes: number): Encoding | null {
    if (bytes <= COMPRESS_FROM_BYTES) return null;
    return preferredEncoding(this.request.headers['accept-encoding']);
  }

  /** JSON from here. */
  sendJson(status: number, value: unknown): void | Promise<void> {
    this.set('content-type', 'application/json; charset=utf-8');
    return this.send(status, JSON.stringify(value));
  }

  /** A body that is compressed already. */
  sendPacked(status: number, bytes: Buffer, encoding: Encoding): void {
    this.set('content-encoding', encoding);
    this.#whole(status, bytes, bytes.length);
  }

  /** A status that says it all. */
  sendNothing(status: number): void {
    this.#response.writeHead(status, this.#head);
    this.#response.end();
    this.#ended();
  }

  /** The head alone, for a body that follows piece by piece. */
  begin(status: number): ServerResponse {
    this.#response.writeHead(status, this.#head);
    this.#response.flushHeaders();
    return this.#response;
  }

  /** For who writes a head of its own: what stands in this one goes along. */
  handOver(): ServerResponse {
    for (let at = 0; at < this.#head.length; at += 2) {
      this.#response.setHeader(this.#head[at] as string, this.#head[at + 1] as string);
    }
    return this.#response;
  }

  /** Without another word: what went out so far was no answer. */
  breakOff(): void {
    this.#response.destroy();
  }

  #whole(status: number, body: string | Buffer, bytes: number): void {
    this.set('content-length', String(bytes));
    this.#response.writeHead(status, this.#head);
    if (this.request.method === 'HEAD') this.#response.end();
    else this.#response.end(isLargeText(body, bytes) ? Buffer.from(body) : body);
    this.#ended();
  }

  #closed(): void {
    this.#unread?.release();
    if (!this.#response.writableFinished) this.gone.abort();
    this.#watcher.closed(this);
  }

  /** The kernel has nearly always taken everything by now. */
  #ended(): void {
    if (this.request.socket.writableLength > 0) this.unread.measure();
  }

  #find(name: string): number {
    for (let at = 0; at < this.#head.length; at += 2) if (this.#head[at] === name) return at;
    return -1;
  }
}

function isLargeText(body: string | Buffer, bytes: number): body is string {
  return typeof body === 'string' && bytes > LARGE_TEXT_BYTES && bytes > body.length;
}

function sizeOf(body: string | Buffer): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}
