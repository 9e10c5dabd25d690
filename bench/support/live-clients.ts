import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

interface Watcher {
  readonly socket: WebSocket;
  readonly stream: Socket;
  isSubscribed: boolean;
}

export interface ClientFigures {
  readonly events: number;
  /** All that came over the wire, frames included. */
  readonly bytes: number;
}

const SOCKETS_PER_ADDRESS = 10;
const AT_ONCE = 50;

/** Many sockets from many addresses of this machine, like clients at home; each event is counted, not parsed. */
export class LiveClients {
  readonly #port: number;
  readonly #watchers: Watcher[] = [];
  #bytesBefore = 0;
  #events = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** Opens one socket per token, through `connection_init` and no further. */
  async connect(tokens: readonly string[]): Promise<void> {
    await inBatches(tokens, (token, at) => this.#connect(token, at));
  }

  /** Subscribes the sockets that are not yet; resolves when each has its first event. */
  async subscribe(query: string): Promise<void> {
    const message = JSON.stringify({ id: '1', type: 'subscribe', payload: { query } });
    const waiting = this.#watchers.filter(({ isSubscribed }) => !isSubscribed);
    await inBatches(waiting, (watcher) => {
      const first = once(watcher.socket, 'message');
      watcher.isSubscribed = true;
      watcher.socket.send(message);
      return first;
    });
  }

  /** Ends all subscriptions; the sockets stay. */
  unsubscribe(): void {
    for (const watcher of this.#watchers) {
      watcher.isSubscribed = false;
      watcher.socket.send(JSON.stringify({ id: '1', type: 'complete' }));
    }
  }

  /** The next event of the first of them, as it came. */
  async sample(): Promise<string> {
    const [watcher] = this.#watchers;
    if (!watcher) throw new Error('no socket is connected');
    const [data] = await once(watcher.socket, 'message');
    return String(data);
  }

  begin(): void {
    this.#bytesBefore = this.#bytesRead();
    this.#events = 0;
  }

  /** Since it has begun. */
  figures(): ClientFigures {
    return { events: this.#events, bytes: this.#bytesRead() - this.#bytesBefore };
  }

  close(): void {
    for (const { socket } of this.#watchers) socket.terminate();
  }

  async #connect(token: string, at: number): Promise<void> {
    const home = Math.floor(at / SOCKETS_PER_ADDRESS);
    const url = `ws://127.0.0.1:${this.#port}/graphql`;
    const socket = new WebSocket(url, 'graphql-transport-ws', {
      localAddress: `127.1.${home >> 8}.${home & 255 || 1}`,
      perMessageDeflate: false,
    });
    const [[{ socket: stream }]] = await Promise.all([
      once(socket, 'upgrade'),
      once(socket, 'open'),
    ]);
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
    this.#watchers.push({ socket, stream, isSubscribed: false });
  }

  #bytesRead(): number {
    return this.#watchers.reduce((sum, { stream }) => sum + stream.bytesRead, 0);
  }
}

async function inBatches<T>(all: readonly T[], act: (one: T, at: number) => Promise<unknown>) {
  for (let from = 0; from < all.length; from += AT_ONCE) {
    const some = all.slice(from, from + AT_ONCE);
    await Promise.all(some.map((one, at) => act(one, from + at)));
  }
}
