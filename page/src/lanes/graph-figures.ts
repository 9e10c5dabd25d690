import { type GraphFigures, sandbox } from '../sandbox.ts';
import { noteMark } from './mark.ts';

let last: GraphFigures | null = null;

/** Notes what has grown or changed of the graph's own figures since it was last called. */
export async function noteGraphFigures(): Promise<void> {
  const before = last;
  last = await sandbox.graph().catch(() => null);
  for (const kind of ['event', 'retry', 'change'] as const) {
    for (const [name, count] of Object.entries(last?.[kind] ?? {})) {
      const more = count - (before?.[kind][name] ?? count);
      if (more === 0) continue;
      const breaker = `${more > 0 ? 'open' : 'closed'}: the breaker of ${name}`;
      noteMark({ lane: 'graph', kind, text: kind === 'change' ? breaker : `${more} × ${name}` });
    }
  }
}
