import { once } from 'node:events';
import { WebSocket } from 'ws';
import { AnswerScan } from './answer-scan.ts';
import { type Account, type HostileReply, NO_REPLY } from './hostile-client.ts';
import type { HostileDocument } from './hostile-document.ts';

interface Operation {
  readonly scan: AnswerScan;
  readonly events: number;
  seen: number;
  readonly done: (reply: HostileReply) => void;
}

/** One socket of an account, with as many operations on it as it likes. */
export class HostileSocket implements Disposable {
  readonly #socket: WebSocket;
  readonly #operations = new Map<string, Operation>();
  /** The events of all operations, finished or not. */
  events = 0;
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => this.#onMessage(data as Buffer));
    socket.on('error', () => {});
    socket.on('close', () => this.#closed());
  }

  static async open({ port, token }: Account): Promise<HostileSocket> {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
    await once(socket, 'open');
    const acknowledged = once(socket, 'message');
    socket.send(
      JSON.stringify({
        type: 'connection_init',
        payload: { authorization: `Bearer ${token}` },
      }),
    );
    await acknowledged;
    return new HostileSocket(socket);
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Resolves after so many events, or when the operation is over. Never rejects. */
  run({ text, variables }: HostileDocument, events = 1): Promise<HostileReply> {
    if (!this.isOpen) return Promise.resolve(NO_REPLY);
    this.#last += 1;
    const id = String(this.#last);
    return new Promise((done) => {
      this.#operations.set(id, { scan: new AnswerScan(), events, seen: 0, done });
      const payload = { query: text, variables };
      this.#socket.send(JSON.stringify({ id, type: 'subscribe', payload }));
    });
  }

  /** Completes every operation in flight that has had so many events. */
  complete(atLeast = 0): void {
    for (const [id, { seen }] of this.#operations) {
      if (seen < atLeast) continue;
      if (this.isOpen) this.#socket.send(JSON.stringify({ id, type: 'complete' }));
      this.#finish(id);
    }
  }

  /** Stops reading, so that back-pressure reaches the server. */
  pause(): void {
    this.#socket.pause();
  }

  [Symbol.dispose](): void {
    this.#socket.terminate();
  }

  #onMessage(data: Buffer): void {
    // The envelope stands before the payload.
    const head = data.toString('latin1', 0, 200);
    const id = /"id":"(\d+)"/.exec(head)?.[1];
    const type = /"type":"(\w+)"/.exec(head)?.[1];
    if (type === 'ping') this.#socket.send(JSON.stringify({ type: 'pong' }));
    const operation = id === undefined ? undefined : this.#operations.get(id);
    if (id === undefined || operation === undefined) return;
    operation.scan.take(data);
    if (type !== 'next') {
      this.#finish(id);
      return;
    }
    this.events += 1;
    operation.seen += 1;
    if (operation.seen < operation.events) return;
    this.#socket.send(JSON.stringify({ id, type: 'complete' }));
    this.#finish(id);
  }

  #finish(id: string): void {
    const operation = this.#operations.get(id);
    if (!operation) return;
    this.#operations.delete(id);
    const { scan, done } = operation;
    const { codes, bytes, fields } = scan;
    done({ status: bytes > 0 ? 200 : 0, codes, bytes, fields });
  }

  #closed(): void {
    for (const { done } of this.#operations.values()) done(NO_REPLY);
    this.#operations.clear();
  }
}
