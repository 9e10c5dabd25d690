import { once } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';

interface Watcher {
  readonly socket: WebSocket;
  readonly stream: Socket;
  isSubscribed: boolean;
  lastAtMs: number;
}

export interface CrowdOptions {
  /** Each socket takes packed messages, as browsers do. */
  readonly isPacked?: boolean;
}

export interface CrowdFigures {
  readonly events: number;
  /** All that came over the wire, frames included. */
  readonly bytes: number;
  /** Share of events that came later than two intervals after the one before. */
  readonly lateShare: number;
}

const SOCKETS_PER_ADDRESS = 10;
const AT_ONCE = 50;

/** Many sockets from many addresses of this machine, like clients at home; each event is counted, not parsed. */
export class LiveCrowd {
  readonly #port: number;
  readonly #isPacked: boolean;
  readonly #watchers: Watcher[] = [];
  #lateAfterMs = Number.POSITIVE_INFINITY;
  #bytesBefore = 0;
  #events = 0;
  #late = 0;

  constructor(port: number, { isPacked = false }: CrowdOptions = {}) {
    this.#port = port;
    this.#isPacked = isPacked;
  }

  /** Opens one socket per token, through `connection_init` and no further. */
  async connect(tokens: readonly string[]): Promise<void> {
    for (let at = 0; at < tokens.length; at += AT_ONCE) {
      const some = tokens.slice(at, at + AT_ONCE);
      await Promise.all(some.map((token, offset) => this.#connect(token, at + offset)));
    }
  }

  /** Subscribes the sockets that are not yet; resolves when each has its first event. */
  async subscribe(query: string): Promise<void> {
    const message = JSON.stringify({ id: '1', type: 'subscribe', payload: { query } });
    const waiting = this.#watchers.filter(({ isSubscribed }) => !isSubscribed);
    for (let at = 0; at < waiting.length; at += AT_ONCE) {
      const some = waiting.slice(at, at + AT_ONCE);
      await Promise.all(
        some.map((watcher) => {
          const first = once(watcher.socket, 'message');
          watcher.isSubscribed = true;
          watcher.socket.send(message);
          return first;
        }),
      );
    }
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

  begin(intervalMs: number): void {
    this.#lateAfterMs = intervalMs * 2;
    this.#bytesBefore = this.#bytesRead();
    this.#events = 0;
    this.#late = 0;
    const nowMs = performance.now();
    for (const watcher of this.#watchers) watcher.lastAtMs = nowMs;
  }

  figures(): CrowdFigures {
    const nowMs = performance.now();
    // A socket without an event so far counts with its wait until now.
    for (const { lastAtMs } of this.#watchers) this.#gap(nowMs - lastAtMs);
    return {
      events: this.#events,
      bytes: this.#bytesRead() - this.#bytesBefore,
      lateShare: this.#late / Math.max(1, this.#events),
    };
  }

  close(): void {
    for (const { socket } of this.#watchers) socket.terminate();
  }

  async #connect(token: string, at: number): Promise<void> {
    const home = Math.floor(at / SOCKETS_PER_ADDRESS);
    const socket = new WebSocket(`ws://127.0.0.1:${this.#port}/graphql`, 'graphql-transport-ws', {
      localAddress: `127.1.${home >> 8}.${home & 255 || 1}`,
      perMessageDeflate: this.#isPacked,
    });
    const connected = once(socket, 'upgrade').then(([request]) => request.socket as Socket);
    // Where it fails, the wait for `open` says so.
    connected.catch(() => {});
    await once(socket, 'open');
    const acknowledged = once(socket, 'message');
    const payload = { authorization: `Bearer ${token}` };
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    await acknowledged;
    const stream = await connected;
    const watcher: Watcher = { socket, stream, isSubscribed: false, lastAtMs: performance.now() };
    socket.on('close', (code, reason) => {
      if (code !== 1006) throw new Error(`a socket was closed: ${code} ${reason}`);
    });
    socket.on('message', () => this.#onEvent(watcher));
    this.#watchers.push(watcher);
  }

  #bytesRead(): number {
    return this.#watchers.reduce((sum, { stream }) => sum + stream.bytesRead, 0);
  }

  #onEvent(watcher: Watcher): void {
    const nowMs = performance.now();
    this.#events += 1;
    this.#gap(nowMs - watcher.lastAtMs);
    watcher.lastAtMs = nowMs;
  }

  #gap(gapMs: number): void {
    if (gapMs > this.#lateAfterMs) this.#late += 1;
  }
}
