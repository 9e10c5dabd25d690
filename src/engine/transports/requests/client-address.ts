import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { plainAddress } from '../../../lib/address-key.ts';
import type { RequestCaller } from '../../../lib/caller.ts';
import type { Log } from '../../../lib/log.ts';

export type ClientAddresses = ReturnType<typeof createClientAddresses>;

/** A request's client address: the peer, or what one of `trustedProxies` puts into X-Forwarded-For. */
export function createClientAddresses(trustedProxies: readonly string[], log: Pick<Log, 'warn'>) {
  const trusted = new BlockList();
  /** Memoized per connection, whose peer never changes. */
  const peers = new WeakMap<Socket, string>();
  let hasIgnored = false;
  for (const network of trustedProxies) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    // It knows IPv4-mapped addresses and networks as those of IPv4.
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }

  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, familyOf(address));

  /** The address of the other end, a proxy's or a client's. */
  function peerOf(socket: Socket): string {
    const known = peers.get(socket);
    if (known !== undefined) return known;
    const peer = plainAddress(socket.remoteAddress ?? '');
    peers.set(socket, peer);
    return peer;
  }

  function of({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string {
    const peer = peerOf(socket);
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return peer;
    if (isTrusted(peer)) return behind(peer, String(forwarded));
    // Once, and in the log alone: any client can send the header. A socket that is closed has no peer any more.
    if (!hasIgnored && peer !== '') {
      log.warn({ peer }, 'X-Forwarded-For is ignored: TRUSTED_PROXIES does not name this peer');
      hasIgnored = true;
    }
    return peer;
  }

  /** Read from the right: each hop is added by the next one, and the leftmost may be forged by the client. */
  function behind(peer: string, forwarded: string): string {
    let client = peer;
    for (const hop of forwarded.split(',').reverse()) {
      const address = addressIn(hop);
      if (address === null) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  }

  return {
    of,
    peerOf,
    /** The sender of a request as far as its connection says, before a token is read. */
    caller: (request: IncomingMessage): RequestCaller => ({
      token: null,
      client: { address: of(request), userAgent: null },
    }),
    /** Whether a request, or a connection, comes straight from a trusted proxy, whose word about its client counts. */
    isFromProxy: ({ socket }: Pick<IncomingMessage, 'socket'>) => isTrusted(peerOf(socket)),
  };
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
