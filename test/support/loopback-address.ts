/**
 * One of 200 addresses of this machine, because unproved tokens are limited by address. Linux accepts connections from all
 * of 127.0.0.0/8.
 */
export function loopbackAddress(client: number): string {
  return `127.0.1.${1 + (client % 200)}`;
}
