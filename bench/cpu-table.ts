import { load, sample } from './support/load.ts';
import { table } from './support/markdown.ts';
import type { Subjects } from './support/open-subjects.ts';
import { median } from './support/statistics.ts';
import type { Subject } from './support/subject.ts';
import type { Workload } from './support/workloads.ts';

export interface Pace {
  /** The number of requests before the measurement, so that Node has compiled the code. A slow subject gets fewer. */
  readonly warmRequests: number;
  readonly longestWarmMs: number;
  readonly sampleMs: number;
  readonly rounds: number;
  /** The number of processes of each subject. They are measured one after the other, each with the rows in another order. */
  readonly processes: number;
}

/** One row, measured with one set of processes: for each subject its microseconds by round. */
export interface RowSamples {
  readonly title: string;
  readonly target: number;
  readonly samples: readonly (readonly number[])[];
}

/** Measures the CPU of one request of each kind. Subjects take turns, so that the machine's other load affects all equally. */
export async function measureRows(
  { gateway, subjects }: Subjects,
  workloads: readonly Workload[],
  pace: Pace,
): Promise<RowSamples[]> {
  const rows: RowSamples[] = [];
  for (const workload of workloads) {
    await gateway.setMarket(workload.market);
    for (const subject of subjects) await warm(subject, workload, pace);
    const samples = await samplesOf(subjects, workload, pace);
    rows.push({ title: workload.title, target: workload.target, samples });
  }
  return rows;
}

/**
 * Each cell has a multiple of the wire's CPU and the microseconds of a request: medians over the processes, with the minimum
 * and the maximum.
 */
export function cpuTable(
  names: readonly string[],
  runs: readonly (readonly RowSamples[])[],
): string {
  const rows = (runs[0] ?? []).map(({ title, target, samples }) => {
    const rowsOfTitle = runs.flatMap((run) => run.filter((row) => row.title === title));
    const cells = samples.map((_, subject) => cell(rowsOfTitle, subject));
    return [title, ...cells, String(target)];
  });
  return table(['CPU per request', ...names, 'ours, at most'], rows);
}

/** The cell of the subject with this index. */
function cell(rows: readonly RowSamples[], subject: number): string {
  const cpu = rows.map(({ samples }) => median(samples[subject] ?? []));
  if (cpu.some(Number.isNaN)) return '–';
  const ratios = rows.map(({ samples }) => ratioToWire(samples, subject));
  const spread = `${digits(Math.min(...cpu))} to ${digits(Math.max(...cpu))}`;
  return `${digits(median(ratios))} (${digits(median(cpu))} µs; ${spread})`;
}

/** Compares a subject with the wire, which is the first subject, in the same rounds. */
function ratioToWire(samples: RowSamples['samples'], subject: number): number {
  const [wire = []] = samples;
  const ratios = (samples[subject] ?? []).map((us, round) => us / (wire[round] ?? Number.NaN));
  return median(ratios);
}

async function warm(
  subject: Subject,
  workload: Workload,
  { warmRequests, longestWarmMs, sampleMs }: Pace,
): Promise<void> {
  let answered = 0;
  for (let turn = 0; answered < warmRequests && turn * sampleMs < longestWarmMs; turn += 1) {
    answered += await load(subject, workload, sampleMs);
  }
}

/** Returns the samples by subject and round. */
async function samplesOf(
  subjects: readonly Subject[],
  workload: Workload,
  { sampleMs, rounds }: Pace,
): Promise<number[][]> {
  const samples = subjects.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, subject] of subjects.entries()) {
      samples[index]?.push(await sample(subject, workload, sampleMs));
    }
  }
  return samples;
}

/** Writes a number with about three digits. */
function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
