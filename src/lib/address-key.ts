import { isIPv6 } from 'node:net';

/** Removes the zone of an address. Turns an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) into its IPv4 address. */
export function plainAddress(address: string): string {
  const bare = (address.split('%', 1)[0] ?? '').toLowerCase();
  return bare.replace(/^::ffff:(?=\d+\.)/, '');
}

/** Returns the key by which limits count an address: the /64 of an IPv6 address, because a host can use all of its /64. */
export function addressKey(address: string): string {
  const plain = plainAddress(address);
  return isIPv6(plain) ? `${groups(plain).slice(0, 4).join(':')}::/64` : plain;
}

/** The eight groups of a valid IPv6 address, without leading zeros. */
function groups(address: string): string[] {
  // URL writes a dotted suffix as two groups, and drops leading zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [head, tail] = hostname.slice(1, -1).split('::', 2);
  const split = (part = '') => part.split(':').filter(Boolean);
  const [before, after] = [split(head), split(tail)];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
