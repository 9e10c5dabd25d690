import type { Client } from './support/client-headers.ts';
import type { Contestant } from './support/contestant.ts';
import type { Field } from './support/field.ts';
import { load, sample } from './support/load.ts';
import { table } from './support/markdown.ts';
import { median } from './support/statistics.ts';
import type { Workload } from './support/workloads.ts';

export interface Pace {
  /** Node compiles what has run often: all get as many requests, unless that takes too long. */
  readonly warmRequests: number;
  readonly longestWarmMs: number;
  readonly sampleMs: number;
  readonly rounds: number;
}

/**
 * CPU for one request of each kind with the headers of each client, as so many times the wire's. Contestants and headers have
 * their turn in each round, so that the machine's other load meets all of them alike.
 */
export async function cpuTable(
  { gateway, contestants }: Field,
  workloads: readonly Workload[],
  clients: readonly Client[],
  pace: Pace,
): Promise<string> {
  const rows: string[][] = [];
  for (const workload of workloads) {
    await gateway.setMarket(workload.market);
    for (const contestant of contestants) await warm(contestant, workload, clients, pace);
    const taken = await samplesOf(contestants, workload, clients, pace);
    for (const [of, client] of clients.entries()) {
      const all = taken.map((byClient) => byClient[of] ?? []);
      const cells = all.map((cpu) => {
        // The median of the rounds, each compared within itself.
        const ratio = median(cpu.map((us, round) => us / (all[0]?.[round] ?? Number.NaN)));
        return `${digits(ratio)} (${digits(median(cpu))} µs)`;
      });
      rows.push([workload.title, client.name, ...cells, String(workload.target)]);
    }
  }
  const names = contestants.map(({ name }) => name);
  return table(['CPU per request', 'headers of', ...names, 'ours, at most'], rows);
}

async function warm(
  contestant: Contestant,
  workload: Workload,
  clients: readonly Client[],
  { warmRequests, longestWarmMs, sampleMs }: Pace,
): Promise<void> {
  let answered = 0;
  for (let turn = 0; answered < warmRequests && turn * sampleMs < longestWarmMs; turn += 1) {
    const accept = clients[turn % clients.length]?.accept;
    answered += await load(contestant, workload, sampleMs, accept);
  }
}

/** By contestant, client and round. */
async function samplesOf(
  contestants: readonly Contestant[],
  workload: Workload,
  clients: readonly Client[],
  { sampleMs, rounds }: Pace,
): Promise<number[][][]> {
  const taken = contestants.map(() => clients.map((): number[] => []));
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, contestant] of contestants.entries()) {
      for (const turn of clients.keys()) {
        // Each header comes first in some round.
        const of = (round + turn) % clients.length;
        const accept = clients[of]?.accept;
        taken[at]?.[of]?.push(await sample(contestant, workload, sampleMs, accept));
      }
    }
  }
  return taken;
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
