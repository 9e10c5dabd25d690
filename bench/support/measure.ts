import { setTimeout as delay } from 'node:timers/promises';
import type { Contestant } from './contestant.ts';
import { fire } from './load.ts';
import type { Workload } from './workloads.ts';

// Work that the last sample began is over by then.
const SETTLING_MS = 30;

export interface Sample {
  readonly answered: number;
  /** Microseconds of CPU for one request. */
  readonly cpu: number;
}

/** Requests of one kind for a while, with the headers of one client; resolves with the number of answers. */
export function load(
  contestant: Contestant,
  { connections, next, samples: [known] }: Workload,
  durationMs: number,
  accept?: string,
): Promise<number> {
  const ask = contestant.replaysRecording ? () => known : next;
  return fire({
    port: contestant.process.port,
    connections,
    durationMs,
    next: (connection) => contestant.request(ask(), connection, accept),
  });
}

export async function sample(...given: Parameters<typeof load>): Promise<Sample> {
  const [{ process }] = given;
  const before = await process.ask({ ask: 'cpu' });
  const answered = await load(...given);
  await delay(SETTLING_MS);
  const after = await process.ask({ ask: 'cpu' });
  return { answered, cpu: (after - before) / answered };
}
