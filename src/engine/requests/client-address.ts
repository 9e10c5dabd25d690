import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { plainAddress } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';

/** An untrusted peer that forwards addresses is probably a proxy if it sends this many requests more than all others. */
const WARNING_LEAD = 50;

/** The addresses of clients: a connection's peer, or the address in a trusted proxy's X-Forwarded-For. */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #log: Pick<Log, 'warn'>;
  /** The leader of the vote: a peer that forwards addresses, or null for all requests without a forwarded address. */
  #leader: string | null = null;
  #lead = 0;
  #hasWarned = false;

  constructor(trustedProxies: readonly string[], log: Pick<Log, 'warn'>) {
    this.#log = log;
    for (const network of trustedProxies) {
      const [address = '', bits] = network.split('/');
      const family = familyOf(address);
      // A BlockList treats IPv4-mapped addresses and networks as IPv4.
      if (bits === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(bits), family);
    }
  }

  /** The address of the other end, which is a proxy or a client. */
  peerOf(socket: Socket): string {
    return plainAddress(socket.remoteAddress ?? '');
  }

  addressOf({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const peer = this.peerOf(socket);
    const forwarded = headers['x-forwarded-for'];
    if (forwarded !== undefined && this.#isTrusted(peer)) {
      return this.#forwardedClient(peer, String(forwarded));
    }
    if (!this.#hasWarned) this.#vote(forwarded === undefined ? null : peer);
    return peer;
  }

  /** Whether a request or a connection comes directly from a trusted proxy, whose headers about its client count. */
  isFromProxy({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#isTrusted(this.peerOf(socket));
  }

  /**
   * Warns once of an untrusted peer that sends most requests, all with the header: its clients share its limits. Any client
   * can send the header, so one request proves nothing. The peer is found by a majority vote (Boyer and Moore).
   */
  #vote(peer: string | null): void {
    if (this.#lead === 0) this.#leader = peer;
    const lead = this.#lead + (peer === this.#leader ? 1 : -1);
    this.#lead = Math.min(lead, WARNING_LEAD);
    if (this.#lead < WARNING_LEAD || this.#leader === null) return;
    this.#hasWarned = true;
    const message = 'X-Forwarded-For is ignored: TRUSTED_PROXIES does not name this peer';
    this.#log.warn({ peer }, message);
  }

  /** Reads the hops from the right: each hop was added by the next one, and a client may have forged the leftmost hops. */
  #forwardedClient(peer: string, forwarded: string): string {
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
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Some proxies add the port, and put IPv6 addresses in brackets. */
function addressIn(hop: string): string | null {
  const text = hop.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  const address = plainAddress(bare);
  return isIP(address) === 0 ? null : address;
}

const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whether a URL points to the reader's own machine. */
export function isLocal(url: string): boolean {
  return LOCAL_HOSTS.has(URL.parse(url)?.hostname ?? '');
}
