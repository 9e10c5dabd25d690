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

/** Loads a contestant for a while, with the headers of one client. */
export async function sample(
  contestant: Contestant,
  { connections, next, samples }: Workload,
  durationMs: number,
  accept?: string,
): Promise<Sample> {
  const [known] = samples;
  const ask = contestant.replaysRecording && known ? () => known : next;
  const before = await contestant.process.ask({ ask: 'cpu' });
  const answered = await fire({
    port: contestant.port,
    connections,
    durationMs,
    next: (connection) => contestant.request(ask(), connection, accept),
  });
  await delay(SETTLING_MS);
  const after = await contestant.process.ask({ ask: 'cpu' });
  return { answered, cpu: (after - before) / answered };
}
