import { once } from 'node:events';
import { WebSocket } from 'ws';

const SOCKETS_PER_ADDRESS = 10;
const BATCH_SIZE = 50;
/** The close code of a socket that this class terminates. */
const ABNORMAL_CLOSURE = 1006;

/** Many sockets from many addresses of this machine, like clients at home; each event is counted, not parsed. */
export class LiveClients {
  readonly #port: number;
  readonly #sockets: WebSocket[] = [];
  #events = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** Opens one socket per token, and sends `connection_init`. */
  async connect(tokens: readonly string[]): Promise<void> {
    await inBatches(tokens, (token, index) => this.#connect(token, index));
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

  /** Returns the text of the next event of the first socket. */
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

  async #connect(token: string, index: number): Promise<void> {
    const url = `ws://127.0.0.1:${this.#port}/graphql`;
    const socket = new WebSocket(url, 'graphql-transport-ws', {
      localAddress: addressOf(Math.floor(index / SOCKETS_PER_ADDRESS)),
      perMessageDeflate: false,
    });
    await once(socket, 'open');
    const acknowledged = once(socket, 'message');
    const payload = { authorization: `Bearer ${token}` };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await acknowledged;
    socket.on('close', (code, reason) => {
      if (code !== ABNORMAL_CLOSURE) throw new Error(`a socket was closed: ${code} ${reason}`);
    });
    socket.on('message', () => {
      this.#events += 1;
    });
    this.#sockets.push(socket);
  }
}

/** Returns the address of a home. It does not end in 0, as no host's address does, so homes 0 and 1 share an address. */
function addressOf(home: number): string {
  const high = home >> 8;
  const low = home & 255;
  return `127.1.${high}.${low === 0 ? 1 : low}`;
}

async function inBatches<T>(all: readonly T[], act: (item: T, index: number) => Promise<unknown>) {
  for (let start = 0; start < all.length; start += BATCH_SIZE) {
    const batch = all.slice(start, start + BATCH_SIZE);
    await Promise.all(batch.map((item, index) => act(item, start + index)));
  }
}
