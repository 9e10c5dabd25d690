import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { plainAddress } from '../../../lib/address-key.ts';
import type { RequestCaller } from '../../../lib/limits/caller.ts';
import type { Log } from '../../../lib/log.ts';

const WINDOW = 100;

/** The addresses of clients: a connection's peer, or what one of the trusted proxies puts into X-Forwarded-For. */
export class ClientAddresses {
  readonly #trusted = new BlockList();
  readonly #log: Pick<Log, 'warn'>;
  /** Memoized per connection, whose peer never changes. */
  readonly #peers = new WeakMap<Socket, string>();
  /** Requests of the present window, and how many of them each untrusted peer sent with X-Forwarded-For. */
  #requests = 0;
  readonly #claims = new Map<string, number>();
  #hasWarned = false;

  constructor(trustedProxies: readonly string[], log: Pick<Log, 'warn'>) {
    this.#log = log;
    for (const network of trustedProxies) {
      const [address = '', bits] = network.split('/');
      const family = familyOf(address);
      // A BlockList takes IPv4-mapped addresses and networks for those of IPv4.
      if (bits === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(bits), family);
    }
  }

  /** The address of the other end, a proxy's or a client's. */
  peerOf(socket: Socket): string {
    const known = this.#peers.get(socket);
    if (known !== undefined) return known;
    const peer = plainAddress(socket.remoteAddress ?? '');
    this.#peers.set(socket, peer);
    return peer;
  }

  /** The address of a request's client. */
  of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const peer = this.peerOf(socket);
    const forwarded = headers['x-forwarded-for'];
    const isClaim = forwarded !== undefined && !this.#isTrusted(peer);
    if (!this.#hasWarned) this.#count(peer, isClaim);
    return forwarded === undefined || isClaim ? peer : this.#behind(peer, String(forwarded));
  }

  /** The sender of a request as far as its connection says, before a token is read. */
  caller(request: IncomingMessage): RequestCaller {
    return { token: null, client: { address: this.of(request), userAgent: null } };
  }

  /** Whether a request, or a connection, comes straight from a trusted proxy, whose word about its client counts. */
  isFromProxy({ socket }: Pick<IncomingMessage, 'socket'>): boolean {
    return this.#isTrusted(this.peerOf(socket));
  }

  /** Any client can send the header, so one warning comes where a peer sends it with most of the requests: that is a proxy. */
  #count(peer: string, isClaim: boolean): void {
    this.#requests += 1;
    // A socket that is closed has no peer any more.
    if (isClaim && peer !== '') {
      const count = (this.#claims.get(peer) ?? 0) + 1;
      this.#claims.set(peer, count);
      if (count > WINDOW / 2) {
        this.#hasWarned = true;
        this.#log.warn(
          { peer },
          'X-Forwarded-For is ignored: TRUSTED_PROXIES does not name this peer, which sends most requests',
        );
      }
    }
    if (this.#requests < WINDOW) return;
    this.#requests = 0;
    this.#claims.clear();
  }

  /** Read from the right: each hop is added by the next one, and the leftmost may be forged by the client. */
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
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Some proxies add the port, and then put IPv6 addresses in brackets. */
function addressIn(hop: string): string | null {
  const text = hop.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  const address = plainAddress(bare);
  return isIP(address) === 0 ? null : address;
}
