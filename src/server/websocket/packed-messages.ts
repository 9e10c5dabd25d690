import type { PerMessageDeflateOptions, WebSocket } from 'ws';

/** Each message is packed by itself, in both directions, so that nothing is kept for a socket in between. */
export const PER_MESSAGE_DEFLATE: PerMessageDeflateOptions = {
  serverNoContextTakeover: true,
  clientNoContextTakeover: true,
};

// `server_max_window_bits` is not among the parameters: events are packed for all sockets alike.
const ACCEPTABLE =
  /(?:^|,)\s*(permessage-deflate(?:\s*;\s*(?:(?:client|server)_no_context_takeover|client_max_window_bits(?:=(?:[89]|1[0-5]))?))*)\s*(?=,|$)/;

/** The first offer of packed messages that can be accepted. With any other, `ws` would refuse the socket. */
export function acceptableOffer(extensions: string | undefined): string | undefined {
  return ACCEPTABLE.exec(extensions ?? '')?.[1];
}

// JSON packs to a fifth, or to a tenth where it repeats itself.
const LARGEST_RATIO = 20;

/**
 * Bounds what a client's messages unpack to by what it has sent. Without it a few hundred bytes would be
 * unpacked, decoded and parsed as a quarter of a megabyte, again and again.
 */
export class UnpackedSizes {
  readonly #allowance: number;
  #unpacked = 0;

  /** Beyond the ratio a socket has so many bytes for its lifetime, enough for any one message. */
  constructor(allowance: number) {
    this.#allowance = allowance;
  }

  /** Call it for each message, with all bytes that have come over the wire. */
  isInflated(messageBytes: number, wireBytes: number): boolean {
    this.#unpacked += messageBytes;
    return this.#unpacked > this.#allowance + LARGEST_RATIO * wireBytes;
  }
}

interface Negotiated {
  readonly _extensions: Readonly<Record<string, { cleanup(): void } | undefined>>;
}

/**
 * Frees the memory in which a socket's message was unpacked. `ws` would keep it for the next message, which
 * may be hours away; it has no public API for that.
 */
export function releaseUnpacker(socket: WebSocket): void {
  const { _extensions: extensions } = socket as unknown as Negotiated;
  extensions['permessage-deflate']?.cleanup();
}
