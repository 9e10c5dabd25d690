import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Field } from './support/field.ts';
import { fire } from './support/load.ts';
import { table } from './support/markdown.ts';
import { allocationsIn } from './support/profile-report.ts';
import type { Workload } from './support/workloads.ts';

const SHOWN = 12;
const WARM_MS = 300;

/**
 * What one request of each kind allocates, the promises and the timers that it makes, and where: figures that the machine's
 * other load does not move.
 */
export async function shapesTable(
  { gateway, contestants }: Field,
  workloads: readonly Workload[],
  pace: { readonly warmRequests: number; readonly profileMs: number },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'allocations-'));
  const rows: string[][] = [];
  for (const { name, title, market, connections, next, samples } of workloads) {
    await gateway.setMarket(market);
    for (const contestant of contestants) {
      const [known] = samples;
      const sent = contestant.replaysRecording && known ? () => known : next;
      const run = (durationMs: number) =>
        fire({
          port: contestant.port,
          connections,
          durationMs,
          next: (connection) => contestant.request(sent(), connection),
        });
      // By requests, not by time: on a busy machine there would be fewer, and code that is not compiled allocates more.
      for (let warmed = 0; warmed < pace.warmRequests; ) warmed += await run(WARM_MS);
      const file = join(folder, `${name}.${rows.length}.json`);
      await contestant.process.ask({ ask: 'start-allocations' });
      const answered = await run(pace.profileMs);
      await contestant.process.ask({ ask: 'stop-allocations', file });
      const { bytes, waits } = allocationsIn(file);
      const each = (count = 0) => (count / answered).toFixed(1);
      const all = bytes.reduce((sum, [, size]) => sum + size, 0);
      rows.push([
        ...[title, contestant.name, ((all / answered) | 0).toLocaleString('en')],
        ...[each(waits.PROMISE), each(waits.Timeout), each(waits.Immediate)],
        bytes
          .slice(0, contestant.replaysRecording ? 3 : SHOWN)
          .map(([where, size]) => `${(size / answered) | 0} ${where}`)
          .join('<br>'),
      ]);
    }
  }
  const head = ['A request', 'of', 'bytes', 'promises', 'timers', 'immediates', 'bytes by file'];
  return `${table(head, rows)}\n\nProfiles are in ${folder}.`;
}
