import { isIPv6 } from 'node:net';

// The prefix of IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2).
const MAPPED = '0:0:0:0:0:ffff';

/** Normalizes an address: without a zone, and IPv4-mapped IPv6 as IPv4. */
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
 * The keys by which limits per address count, the narrowest first: an IPv4 address; of IPv6 the /64, because a host has
 * all of it and could use a new address for each request, and the /56 and /48 that customers are given.
 */
export function networksOf(address: string): readonly string[] {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return [plain];
  const [a, b, c, d = ''] = groups(plain);
  const subnet = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [`${a}:${b}:${c}:${d}::/64`, `${a}:${b}:${c}:${subnet}::/56`, `${a}:${b}:${c}::/48`];
}

/** The narrowest of them, as the log names a client by. */
export function addressKey(address: string): string {
  return networksOf(address)[0] ?? '';
}

/** The eight groups of a valid IPv6 address, without leading zeros. */
function groups(address: string): string[] {
  // It writes a dotted suffix as two groups, and drops leading zeros.
  const { hostname } = new URL(`http://[${address}]`);
  const [head, tail] = hostname.slice(1, -1).split('::', 2);
  const split = (part = '') => part.split(':').filter(Boolean);
  const [before, after] = [split(head), split(tail)];
  return [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
}
