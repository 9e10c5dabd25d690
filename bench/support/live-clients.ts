import { once } from 'node:events';
import { WebSocket } from 'ws';

const SOCKETS_PER_ADDRESS = 10;
const AT_ONCE = 50;

/** Many sockets from many addresses of this machine, like clients at home; each event is counted, not parsed. */
export class LiveClients {
  readonly #port: number;
  readonly #sockets: WebSocket[] = [];
  #events = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** Opens one socket per token, through `connection_init` and no further. */
  async connect(tokens: readonly string[]): Promise<void> {
    await inBatches(tokens, (token, at) => this.#connect(token, at));
  }

  /** Subscribes every socket; resolves when each has its first event. */
  async subscribe(query: string): Promise<void> {
    const message = JSON.stringify({ id: '1', type: 'subscribe', payload: { query } });
    await inBatches(this.#sockets, (socket) => {
      const first = once(socket, 'message');
      socket.send(message);
      return first;
    });
  }

  /** The next event of the first of them, as it came. */
  async sample(): Promise<string> {
    const [socket] = this.#sockets;
    if (!socket) throw new Error('no socket is connected');
    const [data] = await once(socket, 'message');
    return String(data);
  }

  /** The events of all sockets so far. */
  get events(): number {
    return this.#events;
  }

  close(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  async #connect(token: string, at: number): Promise<void> {
    const home = Math.floor(at / SOCKETS_PER_ADDRESS);
    const url = `ws://127.0.0.1:${this.#port}/graphql`;
    const socket = new WebSocket(url, 'graphql-transport-ws', {
      localAddress: `127.1.${home >> 8}.${home & 255 || 1}`,
      perMessageDeflate: false,
    });
    await once(socket, 'open');
    const acknowledged = once(socket, 'message');
    const payload = { authorization: `Bearer ${token}` };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await acknowledged;
    socket.on('close', (code, reason) => {
      if (code !== 1006) throw new Error(`a socket was closed: ${code} ${reason}`);
    });
    socket.on('message', () => {
      this.#events += 1;
    });
    this.#sockets.push(socket);
  }
}

async function inBatches<T>(all: readonly T[], act: (one: T, at: number) => Promise<unknown>) {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE);
    await Promise.all(some.map((one, at) => act(one, from + at)));
  }
}
