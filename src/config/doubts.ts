import type { Variables } from './given-value.ts';
import type { Values } from './settings.ts';

const SAMPLERS = /^(?:parentbased_)?(?:always_on|always_off|traceidratio)$/;

/** Warns of values that are possible, and hardly what is meant. */
export function warnOfDoubts(
  { trustedProxies }: Values,
  { OTEL_TRACES_SAMPLER: sampler = '' }: Variables,
): readonly string[] {
  const everybody = trustedProxies.filter((network) => network.endsWith('/0'));
  return [
    ...everybody.map(
      (network) =>
        `TRUSTED_PROXIES=${network} trusts everybody: a client that reaches this port chooses the address that its limits are counted for`,
    ),
    ...(sampler.trim() === '' || SAMPLERS.test(sampler.trim())
      ? []
      : [
          `OTEL_TRACES_SAMPLER=${sampler} is no sampler, so parentbased_always_on is used: is always_on meant?`,
        ]),
  ];
}
