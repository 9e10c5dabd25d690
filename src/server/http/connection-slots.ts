import type { Socket } from 'node:net';
import { addressKey } from '../../lib/address-key.ts';
import { type Slot, Slots } from '../../lib/slots.ts';
import type { ClientAddresses } from '../request/client-address.ts';

/**
 * Limits the connections of an address, so that one cannot take the places of all. A trusted proxy's are everybody's,
 * and limited by the proxy; WebSockets have limits of their own.
 */
export class ConnectionSlots {
  readonly #addresses: ClientAddresses;
  readonly #perAddress: number;
  readonly #slots = new Slots();
  readonly #held = new WeakMap<Socket, Slot>();

  constructor(addresses: ClientAddresses, perAddress: number) {
    this.#addresses = addresses;
    this.#perAddress = perAddress;
  }

  /** False where the address has too many. */
  enter(socket: Socket): boolean {
    if (this.#addresses.isFromProxy({ socket })) return true;
    const slot = this.#slots.take(addressKey(this.#addresses.peerOf(socket)), this.#perAddress);
    if (slot === null) return false;
    this.#held.set(socket, slot);
    socket.once('close', slot.release);
    return true;
  }

  /** The connection has become a WebSocket. */
  leave(socket: Socket): void {
    this.#held.get(socket)?.release();
  }
}
