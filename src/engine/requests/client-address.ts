import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { steadyClock } from '../../lib/clock.ts';
import { plainAddress, type RequestCaller } from '../../lib/limits/request-caller.ts';
import type { Log } from '../../lib/log.ts';
import { RepeatedErrors } from '../../lib/repeated-errors.ts';

/** The addresses of clients: a connection's peer, or the address in a trusted proxy's X-Forwarded-For. */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #log: Pick<Log, 'warn'>;
  readonly #warnings = new RepeatedErrors(steadyClock.now);

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
    if (forwarded !== undefined) this.#warnOf(peer);
    return peer;
  }

  senderOf(request: IncomingMessage): RequestCaller['sender'] {
    const { 'user-agent': userAgent = null } = request.headers;
    return { address: this.addressOf(request), userAgent };
  }

  /** Whether a request or a connection comes directly from a trusted proxy, whose headers about its client count. */
  isFromProxy({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#isTrusted(this.peerOf(socket));
  }

  /** If the peer is a proxy of this installation, its clients share its limits. Any client can send the header, too. */
  #warnOf(peer: string): void {
    const repeats = this.#warnings.next('peer');
    if (repeats === null) return;
    const message = 'X-Forwarded-For is ignored: TRUSTED_PROXIES does not name this peer';
    this.#log.warn({ peer, ...repeats }, message);
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
