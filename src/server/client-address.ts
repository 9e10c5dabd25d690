import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net';
import { plainAddress } from '../lib/address-key.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';

export interface ClientAddressesOptions {
  /** Addresses and networks whose word about the address behind them counts. */
  readonly trustedProxies: readonly string[];
  readonly clock: Clock;
  readonly log: Pick<Log, 'warn'>;
}

// Anybody can send the header; one that came long ago says nothing of today's configuration.
const SHOWN_MS = 10 * 60_000;
// What stands in front of an IPv4 address that is written as IPv6 one.
const MAPPED_PREFIX_BITS = 96;

/** Where requests come from: the socket's peer, or what the operator's own proxies say of theirs. */
export class ClientAddresses {
  readonly #options: ClientAddressesOptions;
  readonly #trusted = new BlockList();
  /** A connection's end stays where it is, however many requests come from there. */
  readonly #peers = new WeakMap<Socket, string>();
  #ignoredAtMs: number | null = null;

  constructor(options: ClientAddressesOptions) {
    this.#options = options;
    for (const network of options.trustedProxies) trust(this.#trusted, network);
  }

  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const peer = this.#peerOf(socket);
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return peer;
    if (!this.#isTrusted(peer)) {
      this.#ignored(peer);
      return peer;
    }
    return this.#behind(peer, String(forwarded));
  }

  /** What is not as it should be, or null. */
  degradedReason(): string | null {
    const { clock } = this.#options;
    return this.#ignoredAtMs !== null && clock.now() - this.#ignoredAtMs < SHOWN_MS
      ? 'X-Forwarded-For comes from a peer that TRUSTED_PROXIES does not name'
      : null;
  }

  #peerOf(socket: Socket): string {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const peer = plainAddress(socket.remoteAddress ?? '');
    this.#peers.set(socket, peer);
    return peer;
  }

  /** From the right: each hop was added by the one after it, and the leftmost ones by the client. */
  #behind(peer: string, forwarded: string): string {
    let client = peer;
    for (const hop of forwarded.split(',').reverse()) {
      const address = addressIn(hop);
      if (address === null) break;
      client = address;
      if (!this.#isTrusted(address)) break;
    }
    return client;
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.check(address, familyOf(address));
  }

  #ignored(peer: string): void {
    const { clock, log } = this.#options;
    // Once: whoever sends the header could fill the log with it.
    if (this.#ignoredAtMs === null) {
      log.warn({ peer }, 'X-Forwarded-For is ignored: TRUSTED_PROXIES does not name this peer');
    }
    this.#ignoredAtMs = clock.now();
  }
}

/** Peers are known by their plain address, so that networks have to be as well. */
function trust(trusted: BlockList, network: string): void {
  const [address = '', bits] = network.split('/');
  const plain = plainAddress(address);
  if (bits === undefined) {
    trusted.addAddress(plain, familyOf(plain));
    return;
  }
  const mappedBits = isIPv6(address) && isIPv4(plain) ? Number(bits) - MAPPED_PREFIX_BITS : null;
  if (mappedBits !== null && mappedBits >= 0) trusted.addSubnet(plain, mappedBits, 'ipv4');
  else trusted.addSubnet(address, Number(bits), familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Some proxies add the port, IPv6 addresses then in brackets. */
function addressIn(hop: string): string | null {
  const text = hop.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  const address = plainAddress(bare);
  return isIP(address) === 0 ? null : address;
}
