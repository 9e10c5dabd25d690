import type { Contestant } from './support/contestant.ts';
import type { Field } from './support/field.ts';
import { fire } from './support/load.ts';
import { table } from './support/markdown.ts';
import { median, quantile } from './support/statistics.ts';
import type { Workload } from './support/workloads.ts';

export interface LatencyPace {
  readonly rounds: number;
  readonly sampleMs: number;
}

/** The latency of one client alone, and how much of it is above the wire's. */
export async function latencyTable(
  { gateway, contestants }: Field,
  workloads: readonly Workload[],
  { rounds, sampleMs }: LatencyPace,
): Promise<string> {
  const rows: string[][] = [];
  for (const workload of workloads) {
    await gateway.order({ market: workload.market });
    const latencies = new Map(contestants.map((each) => [each, [] as number[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const contestant of contestants) {
        latencies.get(contestant)?.push(...(await alone(contestant, workload, sampleMs)));
      }
    }
    const [wire] = latencies.values();
    rows.push([
      workload.title,
      ...[...latencies.values()].map((taken) => {
        const more = median(taken) - median(wire ?? []);
        const sign = taken === wire ? '' : `, ${more < 0 ? '−' : '+'}${Math.abs(more).toFixed(2)}`;
        return `${median(taken).toFixed(2)}${sign} (p99 ${quantile(taken, 0.99).toFixed(2)})`;
      }),
    ]);
  }
  return table(['One client, median ms', ...contestants.map(({ name }) => name)], rows);
}

async function alone(
  contestant: Contestant,
  { encoding, next, samples }: Workload,
  durationMs: number,
): Promise<readonly number[]> {
  const [known] = samples;
  const ask = contestant.replaysRecording && known ? () => known : next;
  const { latenciesMs } = await fire({
    port: contestant.port,
    connections: 1,
    durationMs,
    next: () => contestant.request(ask(), encoding, 0),
  });
  return latenciesMs;
}
