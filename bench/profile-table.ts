import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Field } from './support/field.ts';
import { fire } from './support/load.ts';
import { table } from './support/markdown.ts';
import { selfTimes } from './support/profile-report.ts';
import type { Workload } from './support/workloads.ts';

const SHOWN = 10;

/** The share of each part of the program in the time of each kind of request; the profiles are kept. */
export async function profileTable(
  { gateway, ours }: Field,
  workloads: readonly Workload[],
  pace: { readonly warmMs: number; readonly profileMs: number },
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'profiles-'));
  const rows: string[][] = [];
  for (const { name, title, market, connections, next } of workloads) {
    await gateway.setMarket(market);
    const run = (durationMs: number) =>
      fire({
        port: ours.port,
        connections,
        durationMs,
        next: (connection) => ours.request(next(), connection),
      });
    await run(pace.warmMs);
    const file = join(folder, `${name}.cpuprofile`);
    await ours.process.ask({ ask: 'start-profile' });
    await run(pace.profileMs);
    await ours.process.ask({ ask: 'stop-profile', file });
    rows.push([title, shown(selfTimes(file, 'by part')), shown(selfTimes(file, 'by function'))]);
  }
  const caption = `Profiles are in ${folder}.`;
  return `${table(['Self time of ours', 'by part', 'by function'], rows)}\n\n${caption}`;
}

function shown(times: ReturnType<typeof selfTimes>): string {
  return times
    .slice(0, SHOWN)
    .map(({ where, share }) => `${(share * 100).toFixed(0)} % ${where}`)
    .join('<br>');
}
