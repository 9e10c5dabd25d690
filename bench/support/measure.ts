import { setTimeout as delay } from 'node:timers/promises';
import type { Contestant } from './contestant.ts';
import type { Gateway } from './gateway.ts';
import { fire } from './load.ts';
import { median } from './statistics.ts';
import type { Workload } from './workloads.ts';

export interface Pace {
  /** Node compiles what has run often: all get as many requests, unless that takes too long. */
  readonly warmRequests: number;
  readonly longestWarmMs: number;
  readonly sampleMs: number;
  readonly rounds: number;
}

export interface Figure {
  /** Microseconds of CPU for one request: the median of the rounds. */
  readonly cpu: number;
  /** The multiple of the first contestant's CPU: the median over the rounds, each compared within itself. */
  readonly ratio: number;
  readonly perSecond: number;
}

// Work that the last sample began is over by then.
const SETTLING_MS = 30;

/**
 * Rounds with a sample of each contestant, so that the machine's other load meets all of
 * them alike.
 */
export async function measure(
  gateway: Gateway,
  contestants: readonly Contestant[],
  workload: Workload,
  pace: Pace,
): Promise<ReadonlyMap<Contestant, Figure>> {
  await gateway.order({ market: workload.market });
  const { sampleMs, rounds } = pace;
  for (const contestant of contestants) await warm(contestant, workload, pace);
  const samples = new Map(contestants.map((each) => [each, [] as Sample[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      samples.get(contestant)?.push(await sample(contestant, workload, sampleMs));
    }
  }
  const [floor] = samples.values();
  return new Map(
    [...samples].map(([contestant, taken]) => [
      contestant,
      {
        cpu: median(taken.map(({ cpu }) => cpu)),
        ratio: median(taken.map(({ cpu }, round) => cpu / (floor?.[round]?.cpu ?? Number.NaN))),
        perSecond: median(taken.map(({ perSecond }) => perSecond)),
      },
    ]),
  );
}

async function warm(
  contestant: Contestant,
  workload: Workload,
  { warmRequests, longestWarmMs, sampleMs }: Pace,
): Promise<void> {
  let answered = 0;
  for (let ms = 0; answered < warmRequests && ms < longestWarmMs; ms += sampleMs) {
    answered += (await sample(contestant, workload, sampleMs)).answered;
  }
}

export interface Sample {
  readonly answered: number;
  readonly cpu: number;
  readonly perSecond: number;
}

export async function sample(
  contestant: Contestant,
  { connections, encoding, next, samples }: Workload,
  durationMs: number,
  accept?: string,
): Promise<Sample> {
  const [known] = samples;
  const ask = contestant.replaysRecording && known ? () => known : next;
  const before = await contestant.process.ask({ ask: 'cpu' });
  const { answered } = await fire({
    port: contestant.port,
    connections,
    durationMs,
    staysAwake: true,
    next: (connection) => contestant.request(ask(), encoding, connection, accept),
  });
  await delay(SETTLING_MS);
  const after = await contestant.process.ask({ ask: 'cpu' });
  const perSecond = (answered * 1000) / durationMs;
  return { answered, cpu: (after - before) / answered, perSecond };
}
