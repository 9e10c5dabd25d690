import { networkInterfaces } from 'node:os';

/** An address at which other devices of the same network reach this machine; null without a network. */
export function networkAddress(): string | null {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  const outside = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal);
  return outside[0]?.address ?? null;
}
