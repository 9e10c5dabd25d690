import type { NightHealth } from './replica.ts';
import type { Line } from './stage.ts';

/**
 * What names the cause to whoever is on call: readiness of the admin ports, the builds that run, and codes in the
 * lines of requests.
 */
export function reasonsIn(
  healths: readonly (NightHealth | null)[],
  lines: readonly Line[],
): ReadonlySet<string> {
  const found = new Set<string>();
  const revisions = new Set<string>();
  for (const health of healths) {
    if (health === null) found.add('no answer');
    for (const reason of health?.reasons ?? []) found.add(reason);
    if (health?.revision !== undefined) revisions.add(health.revision);
  }
  if (revisions.size > 1) found.add('two revisions');
  for (const { msg, codes } of lines) {
    if (msg === 'request' && Array.isArray(codes)) for (const code of codes) found.add(code);
  }
  return found;
}
