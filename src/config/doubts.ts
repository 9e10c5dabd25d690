import type { Values } from './settings.ts';

/** Warns of values that are possible, and hardly what is meant. */
export function warnOfDoubts({ trustedProxies }: Values): readonly string[] {
  return trustedProxies
    .filter((network) => network.endsWith('/0'))
    .map(
      (network) =>
        `TRUSTED_PROXIES=${network} trusts everybody: a client that reaches this port chooses the address that its limits are counted for`,
    );
}
