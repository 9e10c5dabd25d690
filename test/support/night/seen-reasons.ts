import type { Line, Stage } from './stage.ts';

/**
 * What names the cause to whoever is on call: readiness of the admin ports, the builds that run, codes in the
 * lines of requests, and the outcome in the line of a backend that fails.
 */
export async function reasonsIn(
  stage: Pick<Stage, 'replicas'>,
  lines: readonly Line[],
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const revisions = new Set<string>();
  for (const health of await Promise.all(stage.replicas.map((replica) => replica.health()))) {
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
