import { getHeapStatistics } from 'node:v8';

const MB = 1024 ** 2;
// V8 keeps young objects in three of them. Their size where no flag names one, by Node's major.
const SEMI_SPACES = 3;
const SEMI_SPACE_MB: Readonly<Record<string, number>> = { 24: 64, 26: 32 };
const MAX_SEMI_SPACE_MB = Math.max(...Object.values(SEMI_SPACE_MB));

/** The bytes that what lives for long may take: V8's limit includes the young generation's, which it cannot use. */
export function oldHeapLimit(): number {
  // biome-ignore lint/style/noProcessEnv: the variable is Node's own, and no setting of the service.
  const flags = [process.env.NODE_OPTIONS, ...process.execArgv].join(' ');
  return oldHeapBytes(getHeapStatistics().heap_size_limit, flags, process.versions.node);
}

/** Reads the flags where they tell, the last of each as V8 has it; no figure of V8 names the young generation's limit. */
export function oldHeapBytes(limit: number, flags: string, nodeVersion: string): number {
  const oldMb = flagOf('max-old-space-size', flags);
  if (oldMb > 0) return Math.min(oldMb * MB, limit);
  const semiMb = flagOf('max-semi-space-size', flags);
  // V8 rounds it up to a power of two.
  if (semiMb > 0) return Math.max(MB, limit - SEMI_SPACES * 2 ** Math.ceil(Math.log2(semiMb)) * MB);
  // Small heaps have a smaller young generation than a major's usual one.
  const usualMb = SEMI_SPACE_MB[Number.parseInt(nodeVersion, 10)] ?? MAX_SEMI_SPACE_MB;
  return Math.max(limit - SEMI_SPACES * usualMb * MB, limit / 2);
}

/** V8 takes flags with underscores as well; 0 where there is none. */
function flagOf(name: string, flags: string): number {
  const flag = new RegExp(`--${name.replaceAll('-', '[-_]')}=(\\d+)`, 'g');
  return Number([...flags.matchAll(flag)].at(-1)?.[1] ?? 0);
}
