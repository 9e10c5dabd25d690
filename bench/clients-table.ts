import { CLIENTS } from './support/client-headers.ts';
import type { Contestant } from './support/contestant.ts';
import type { Field } from './support/field.ts';
import { table } from './support/markdown.ts';
import { type Pace, sample } from './support/measure.ts';
import { median } from './support/statistics.ts';
import type { Workload } from './support/workloads.ts';

type Client = (typeof CLIENTS)[number];

/**
 * CPU for one request of each kind with the headers of each client, as so many times the wire's. All headers have
 * their turn in each round, so that they can be compared with one another.
 */
export async function clientsTable(
  { gateway, contestants, ours }: Field,
  workloads: readonly Workload[],
  pace: Pace,
): Promise<string> {
  const rows: string[][] = [];
  for (const workload of workloads) {
    await gateway.order({ market: workload.market });
    for (const contestant of contestants) await warm(contestant, workload, pace);
    const taken = await rounds(contestants, workload, pace);
    for (const client of CLIENTS) {
      const cpuOf = (contestant: Contestant) => taken.get(contestant)?.get(client) ?? [];
      const [floor = []] = contestants.map(cpuOf);
      const ofPlain = taken.get(ours)?.get(CLIENTS[0]) ?? [];
      rows.push([
        workload.title,
        client.name,
        ...contestants.map((each) => digits(medianRatio(cpuOf(each), floor))),
        digits(medianRatio(cpuOf(ours), ofPlain)),
      ]);
    }
  }
  const names = contestants.map(({ name }) => name);
  return table(['CPU per request', 'headers of', ...names, 'ours beside `application/json`'], rows);
}

async function warm(contestant: Contestant, workload: Workload, pace: Pace): Promise<void> {
  const { warmRequests, longestWarmMs, sampleMs } = pace;
  let answered = 0;
  for (let ms = 0; answered < warmRequests && ms < longestWarmMs; ms += sampleMs) {
    const { accept } = CLIENTS[(ms / sampleMs) % CLIENTS.length] as Client;
    answered += (await sample(contestant, workload, sampleMs, accept)).answered;
  }
}

async function rounds(
  contestants: readonly Contestant[],
  workload: Workload,
  { sampleMs, rounds }: Pace,
): Promise<ReadonlyMap<Contestant, ReadonlyMap<Client, readonly number[]>>> {
  const taken = new Map(
    contestants.map((each) => [each, new Map(CLIENTS.map((client) => [client, [] as number[]]))]),
  );
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      // Each header comes first in some round.
      for (let at = 0; at < CLIENTS.length; at += 1) {
        const client = CLIENTS[(round + at) % CLIENTS.length] as Client;
        const { cpu } = await sample(contestant, workload, sampleMs, client.accept);
        taken.get(contestant)?.get(client)?.push(cpu);
      }
    }
  }
  return taken;
}

function medianRatio(values: readonly number[], floor: readonly number[]): number {
  return median(values.map((value, round) => value / (floor[round] ?? Number.NaN)));
}

function digits(value: number): string {
  return value.toPrecision(3);
}
