import type { Field } from './support/field.ts';
import { table } from './support/markdown.ts';
import { measure, type Pace } from './support/measure.ts';
import type { Workload } from './support/workloads.ts';

/** CPU for one request of each kind, as so many times the wire's. */
export async function cpuTable(
  { gateway, contestants }: Field,
  workloads: readonly Workload[],
  pace: Pace,
): Promise<string> {
  const rows: string[][] = [];
  for (const workload of workloads) {
    const figures = await measure(gateway, contestants, workload, pace);
    rows.push([
      workload.title,
      ...contestants.map((each) => {
        const { cpu = Number.NaN, ratio = Number.NaN } = figures.get(each) ?? {};
        return `${digits(ratio)} (${digits(cpu)} µs)`;
      }),
      String(workload.target),
    ]);
  }
  return table(['CPU per request', ...contestants.map(({ name }) => name), 'ours, at most'], rows);
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
