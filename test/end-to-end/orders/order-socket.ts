import { WebSocket } from 'ws';
import type { GraphQLBody } from './order-request.ts';

/** A client of `graphql-transport-ws` that never reconnects by itself, and can terminate its socket. */
export class OrderSocket {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (body: GraphQLBody | 'cut') => void>();
  #lastId = 0;
  #isOpen = false;

  static async open(url: string, token: string | null): Promise<OrderSocket> {
    const socket = new OrderSocket(url);
    await socket.#connectionInit(token);
    return socket;
  }

  private constructor(url: string) {
    this.#socket = new WebSocket(url, 'graphql-transport-ws');
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** `message` is JSON already. Resolves to `cut` where the socket closes first. */
  ask(message: string): Promise<GraphQLBody | 'cut'> {
    if (!this.#isOpen) return Promise.resolve('cut');
    this.#lastId += 1;
    const id = String(this.#lastId);
    this.#socket.send(`{"id":"${id}","type":"subscribe","payload":${message}}`);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Closes without a closing handshake. */
  terminate(): void {
    this.#socket.terminate();
    this.#closed();
  }

  #connectionInit(token: string | null): Promise<void> {
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
      // The error of a socket that the server's death closed needs no handling.
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
