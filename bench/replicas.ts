/**
 * The CPU time and memory of each unit of work for one, two and three processes behind haproxy, and what a core carries by it.
 * `node bench/replicas.ts [--quick] [--processes 1,2,3]` prints Markdown.
 */
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { startLiveGateway } from './support/live-gateway.ts';
import { measureReplicas, type ReplicaFigures } from './support/replica-figures.ts';
import { replicaTables } from './support/replica-tables.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    processes: { type: 'string', default: '1,2,3' },
  },
});
const pace = values.quick
  ? { warmMs: 500, sampleMs: 500, accounts: 50, intervalMs: 1_000, windowMs: 2_000 }
  : { warmMs: 6_000, sampleMs: 3_000, accounts: 400, intervalMs: 1_000, windowMs: 10_000 };

pinOwnProcess();
const figures: ReplicaFigures[] = [];
for (const count of values.processes.split(',').map(Number)) {
  // Anew for each, since orders add positions.
  await using gateway = await startLiveGateway({ instruments: 5_000 });
  figures.push(await measureReplicas(count, gateway, pace));
}
process.stdout.write(`${replicaTables(figures)}\n`);
