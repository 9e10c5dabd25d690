import { WebSocket } from 'ws';
import { openSocket } from '../open-socket.ts';
import {
  type Account,
  AnswerEnds,
  type HostileDocument,
  type HostileReply,
  NO_REPLY,
} from './hostile-client.ts';

interface Operation {
  readonly ends: AnswerEnds;
  readonly isEndless: boolean;
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
    socket.on('close', () => {
      for (const { done } of this.#operations.values()) done(NO_REPLY);
      this.#operations.clear();
    });
  }

  static async open({ port, token }: Account): Promise<HostileSocket> {
    const { socket } = await openSocket(port, token);
    return new HostileSocket(socket);
  }

  /** Resolves after the first event, or where it is endless when the server ends it. Never rejects. */
  run({ text, variables }: HostileDocument, isEndless = false): Promise<HostileReply> {
    if (this.#socket.readyState !== WebSocket.OPEN) return Promise.resolve(NO_REPLY);
    this.#last += 1;
    const id = String(this.#last);
    return new Promise((done) => {
      this.#operations.set(id, { ends: new AnswerEnds(), isEndless, done });
      this.#send({ id, type: 'subscribe', payload: { query: text, variables } });
    });
  }

  /** Completes every operation in flight. */
  complete(): void {
    for (const [id, operation] of this.#operations) this.#complete(id, operation);
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
    const id = /"id":"(\d+)"/.exec(head)?.[1] ?? '';
    const type = /"type":"(\w+)"/.exec(head)?.[1];
    if (type === 'ping') this.#send({ type: 'pong' });
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    operation.ends.take(data);
    if (type === 'next') this.events += 1;
    if (type === 'next' && !operation.isEndless) this.#complete(id, operation);
    else if (type !== 'next') this.#finish(id, operation);
  }

  #complete(id: string, operation: Operation): void {
    this.#send({ id, type: 'complete' });
    this.#finish(id, operation);
  }

  #finish(id: string, { ends, done }: Operation): void {
    this.#operations.delete(id);
    done({ status: 200, codes: ends.codes });
  }

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}
