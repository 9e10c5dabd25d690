import { isIPv6 } from 'node:net';

// The prefix of IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2).
const MAPPED = '0:0:0:0:0:ffff';

/** Normalizes an address: removes the zone, and writes IPv4-mapped IPv6 as IPv4. */
export function plainAddress(address: string): string {
  const bare = (address.split('%', 1)[0] ?? '').toLowerCase();
  if (!isIPv6(bare)) return bare;
  const all = groups(bare);
  if (all.slice(0, 6).join(':') !== MAPPED) return bare;
  const bytes = all.slice(6).flatMap((group) => {
    const bits = Number.parseInt(group, 16);
    return [bits >> 8, bits & 0xff];
  });
  return bytes.join('.');
}

/**
 * Returns the key by which limits count an address. An IPv6 host owns a /64 and can use a new address for each request, so
 * its key is the /64.
 */
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
