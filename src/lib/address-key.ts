import { isIPv6 } from 'node:net';

const DOTTED_TAIL = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/;
// The prefix of IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2).
const MAPPED = '0:0:0:0:0:ffff';

/** Normalizes an address: without a zone, and IPv4-mapped IPv6 as IPv4. */
export function plainAddress(address: string): string {
  const bare = address.split('%', 1)[0] ?? '';
  return (isIPv6(bare) ? mappedIPv4(bare) : null) ?? bare.toLowerCase();
}

const MOST_KNOWN = 4_096;
const known = new Map<string, string>();

/**
 * The key of limits per address: the /64 of an IPv6 address, because a host has all of it and could
 * use a new address for each request. Each request asks for it several times, of IPv6 at 2.4 µs a time.
 */
export function addressKey(address: string): string {
  let key = known.get(address);
  if (key === undefined) {
    key = keyOf(address);
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(address, key);
  }
  return key;
}

function keyOf(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  return `${groups(plain).slice(0, 4).join(':')}::/64`;
}

/** Null where the address is native IPv6. */
function mappedIPv4(address: string): string | null {
  const all = groups(address.toLowerCase());
  if (all.slice(0, 6).join(':') !== MAPPED) return null;
  const mapped = all.slice(6).flatMap((group) => {
    const bits = Number.parseInt(group, 16);
    return [bits >> 8, bits & 0xff];
  });
  return mapped.join('.');
}

/** The eight groups of a valid IPv6 address, without leading zeros. */
function groups(address: string): string[] {
  const [head = '', tail] = inHexadecimal(address).split('::', 2);
  const before = split(head);
  const after = split(tail ?? '');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after];
}

/** Rewrites a dotted IPv4 suffix as two groups. */
function inHexadecimal(address: string): string {
  return address.replace(DOTTED_TAIL, (_dotted, ...parts) => {
    const [a, b, c, d] = parts.map(Number) as [number, number, number, number];
    return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  });
}

function split(part: string): string[] {
  return part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
