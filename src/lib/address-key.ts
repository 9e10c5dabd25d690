import { isIPv4, isIPv6 } from 'node:net';

const MAPPED = /^(?:0{1,4}:){0,5}:{0,2}ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** One spelling for each address: without a zone, and IPv4 as such where it came in IPv6's clothes. */
export function plainAddress(address: string): string {
  const bare = address.split('%', 1)[0] ?? '';
  const mapped = MAPPED.exec(bare)?.[1];
  return mapped !== undefined && isIPv4(mapped) ? mapped : bare.toLowerCase();
}

/**
 * What limits per address go by. A host has all of an IPv6 /64 to itself and could take a new address
 * for each request.
 */
export function addressKey(address: string): string {
  const plain = plainAddress(address);
  if (!isIPv6(plain)) return plain;
  return `${groups(plain).slice(0, 4).join(':')}::/64`;
}

function groups(address: string): string[] {
  // An address that ends in dotted form stands for two groups; which ones does not matter here.
  const [head = '', tail] = address.replace(/:\d+\.\d+\.\d+\.\d+$/, ':0:0').split('::', 2);
  const before = split(head);
  const after = split(tail ?? '');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: missing }, () => '0'), ...after];
}

function split(part: string): string[] {
  return part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
