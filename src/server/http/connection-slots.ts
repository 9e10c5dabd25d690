import type { Socket } from 'node:net';
import { addressKey } from '../../lib/address-key.ts';
import { Slots } from '../../lib/slots.ts';
import type { ClientAddresses } from '../request/client-address.ts';

/**
 * Limits the connections of an address, so that one cannot take the places of all. A trusted proxy's are everybody's,
 * and limited by the proxy; WebSockets have limits of their own.
 */
export class ConnectionSlots {
  readonly #addresses: ClientAddresses;
  readonly #perAddress: number;
  readonly #slots = new Slots();
  readonly #leaves = new WeakMap<Socket, () => void>();

  constructor(addresses: ClientAddresses, perAddress: number) {
    this.#addresses = addresses;
    this.#perAddress = perAddress;
  }

  /** False where the address has too many. */
  enter(socket: Socket): boolean {
    if (this.#addresses.isFromProxy({ socket })) return true;
    const leave = this.#slots.take(addressKey(this.#addresses.peerOf(socket)), this.#perAddress);
    if (leave === null) return false;
    this.#leaves.set(socket, leave);
    socket.once('close', leave);
    return true;
  }

  /** The connection has become a WebSocket. */
  leave(socket: Socket): void {
    this.#leaves.get(socket)?.();
  }
}
