import type { Socket } from 'node:net';
import { networksOf } from '../../lib/address-key.ts';
import type { ReceiveBuffers } from '../receive/receive-buffers.ts';

// The rest is for those who are in the middle of something.
const CROWDED = 3 / 4;

/**
 * Makes room for a connection before there is none left: the oldest that is idle and nobody's is closed, of the address
 * that has most. Connections of a proxy carry others' requests and are never closed, but for their WebSockets.
 */
export class ConnectionRoom {
  readonly most: number;
  readonly #received: ReceiveBuffers;
  readonly #onClosed: () => void;
  readonly #byAddress = new Map<string, Set<Socket>>();
  #count = 0;

  constructor(most: number, received: ReceiveBuffers, onClosed: () => void) {
    this.most = most;
    this.#received = received;
    this.#onClosed = onClosed;
  }

  get count(): number {
    return this.#count;
  }

  /** Call it for each connection that is accepted. */
  opened(socket: Socket): void {
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
    });
    if (this.#count > CROWDED * this.most) this.#closeOne();
  }

  /** Call it once it is known whose a connection is. */
  belongsTo(address: string, socket: Socket): void {
    // Whoever has a /48 would else be sixty thousand addresses with one connection each, and all others have more.
    const key = networksOf(address).at(-1) ?? '';
    const sockets = this.#byAddress.get(key) ?? new Set();
    this.#byAddress.set(key, sockets.add(socket));
    socket.once('close', () => {
      sockets.delete(socket);
      if (sockets.size === 0) this.#byAddress.delete(key);
    });
  }

  #closeOne(): void {
    let oldest: Socket | undefined;
    let most = 0;
    for (const sockets of this.#byAddress.values()) {
      const idle = sockets.size > most && this.#idleOf(sockets);
      if (!idle) continue;
      oldest = idle;
      most = sockets.size;
    }
    if (oldest === undefined) return;
    oldest.destroy();
    this.#onClosed();
  }

  #idleOf(sockets: Iterable<Socket>): Socket | undefined {
    for (const socket of sockets) {
      if (!socket.destroyed && this.#received.of(socket).isIdle) return socket;
    }
    return undefined;
  }
}
