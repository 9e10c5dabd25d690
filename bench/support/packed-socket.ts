import { WebSocket } from 'ws';

/** A platform's WebSocket that packs messages, or does not. */
export function socketOf(isPacked: boolean): typeof globalThis.WebSocket {
  class Socket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { perMessageDeflate: isPacked });
    }
  }
  return Socket as unknown as typeof globalThis.WebSocket;
}
