import type { NightHealth } from './replica.ts';
import type { Line } from './stage.ts';

/**
 * What names the cause to whoever is on call: readiness of the admin ports, the builds that run, codes in the
 * lines of requests, and the outcome in the line of a backend that fails.
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
  for (const { msg, codes, outcome } of lines) {
    if (msg === 'request' && Array.isArray(codes)) for (const code of codes) found.add(code);
    if (msg === 'a backend of the gateway fails') found.add(String(outcome));
  }
  return found;
}
