import { WebSocket } from 'ws';
import type { GraphQLBody } from './order-request.ts';

/** A client of `graphql-transport-ws` that never connects again by itself, and can vanish. */
export class OrderSocket {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (body: GraphQLBody | 'cut') => void>();
  #lastId = 0;
  #isOpen = false;

  static async open(url: string, token: string | null): Promise<OrderSocket> {
    const socket = new OrderSocket(url);
    await socket.#greet(token);
    return socket;
  }

  private constructor(url: string) {
    this.#socket = new WebSocket(url, 'graphql-transport-ws');
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** `message` is JSON already. Where the socket closes first: `cut`. */
  ask(message: string): Promise<GraphQLBody | 'cut'> {
    if (!this.#isOpen) return Promise.resolve('cut');
    this.#lastId += 1;
    const id = String(this.#lastId);
    this.#socket.send(`{"id":"${id}","type":"subscribe","payload":${message}}`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Without a word of goodbye. */
  vanish(): void {
    this.#socket.terminate();
    this.#closed();
  }

  #greet(token: string | null): Promise<void> {
    const socket = this.#socket;
    return new Promise((resolve, reject) => {
      socket.on('open', () => {
        const payload = token === null ? {} : { authorization: `Bearer ${token}` };
        socket.send(JSON.stringify({ type: 'connection_init', payload }));
      });
      socket.on('message', (data) => {
        const { type, id, payload } = JSON.parse(String(data));
        if (type === 'connection_ack') {
          this.#isOpen = true;
          resolve();
        } else if (type === 'ping') socket.send('{"type":"pong"}');
        else if (type === 'next') this.#answered(id, payload);
        else if (type === 'error') this.#answered(id, { errors: payload });
      });
      // Of one that the server's death cut, nobody needs to hear more.
      socket.on('error', reject);
      socket.on('close', () => {
        this.#closed();
        reject(new Error('the socket was closed'));
      });
    });
  }

  #answered(id: string, body: GraphQLBody): void {
    this.#waiting.get(id)?.(body);
    this.#waiting.delete(id);
  }

  #closed(): void {
    this.#isOpen = false;
    for (const resolve of this.#waiting.values()) resolve('cut');
    this.#waiting.clear();
  }
}
