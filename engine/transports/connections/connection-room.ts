import type { Socket } from 'node:net';
import { networksOf } from '../../../lib/address-key.ts';
import type { ReceiveBuffers } from './receive-buffers.ts';

// The rest is for those who are in the middle of something.
const CROWDED = 3 / 4;

/**
 * Makes room for a connection before there is none left: the oldest that is idle and nobody's is closed, of the address
 * that has most. Connections of a proxy carry others' requests and are never closed, but for their WebSockets.
 */
export function createConnectionRoom(most: number, received: ReceiveBuffers, onClosed: () => void) {
  const byAddress = new Map<string, Set<Socket>>();
  let count = 0;

  function closeOne(): void {
    let oldest: Socket | undefined;
    let largest = 0;
    for (const sockets of byAddress.values()) {
      const idle = sockets.size > largest && idleOf(sockets);
      if (!idle) continue;
      oldest = idle;
      largest = sockets.size;
    }
    if (oldest === undefined) return;
    oldest.destroy();
    onClosed();
  }

  function idleOf(sockets: Iterable<Socket>): Socket | undefined {
    for (const socket of sockets) {
      if (!socket.destroyed && received.of(socket).isIdle) return socket;
    }
    return undefined;
  }

  return {
    most,
    get count() {
      return count;
    },
    /** Call it for each connection that is accepted. */
    opened(socket: Socket): void {
      count += 1;
      socket.on('close', () => {
        count -= 1;
      });
      if (count > CROWDED * most) closeOne();
    },
    /** Call it once it is known whose a connection is. */
    belongsTo(address: string, socket: Socket): void {
      // Otherwise a client with a /48 would be sixty thousand addresses with one connection each, and all others have more.
      const key = networksOf(address).at(-1) ?? '';
      const sockets = byAddress.get(key) ?? new Set();
      byAddress.set(key, sockets.add(socket));
      socket.on('close', () => {
        sockets.delete(socket);
        if (sockets.size === 0) byAddress.delete(key);
      });
    },
  };
}
