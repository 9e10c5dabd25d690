/** Compares the cost of the first requests of a process with that of later ones. `node bench/warm.ts [--source <folder>] [--rounds 3]` prints Markdown. */
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { startGateway } from './support/gateway.ts';
import { table } from './support/markdown.ts';
import { sample } from './support/measure.ts';
import { startOurs } from './support/start-contestants.ts';
import { median } from './support/statistics.ts';
import { createWorkloads, type Workload } from './support/workloads.ts';

const INSTRUMENTS = 5_000;
const REQUESTS = 100;
const CONNECTIONS = 4;
const STEADY_MS = 4_000;
const STEADY_SAMPLES = 5;
const WATCHED_MS = 10_000;
const SETTLING_MS = 1_500;
const ROWS = ['home', 'search', 'positions', 'customer-id'];

const { values } = parseArgs({
  options: {
    source: { type: 'string', multiple: true, default: [join(import.meta.dirname, '..')] },
    rounds: { type: 'string', default: '3' },
  },
});

pinOwnProcess();
await using gateway = await startGateway(INSTRUMENTS, CONNECTIONS);
const workloads = createWorkloads([]).filter(({ name }) => ROWS.includes(name));
const sources = values.source.map((folder) => resolve(folder));
const rounds: Map<string, Figures>[] = [];
for (let round = 0; round < Number(values.rounds); round += 1) {
  const figures = new Map<string, Figures>();
  for (const folder of sources) figures.set(folder, await measure(folder));
  rounds.push(figures);
}
const rows = sources.map((folder) => {
  const of = (pick: (figures: Figures) => number) =>
    median(rounds.map((figures) => pick(figures.get(folder) as Figures)));
  const firsts = workloads.map(({ name }) => {
    const [first, steady] = [
      of((it) => it.first.get(name) ?? 0),
      of((it) => it.steady.get(name) ?? 1),
    ];
    return `${first.toFixed(0)} µs, ${(first / steady).toFixed(1)} times`;
  });
  return [
    folder,
    of((it) => it.readyMs).toFixed(0),
    of((it) => it.idleMb).toFixed(0),
    ...firsts,
    of((it) => it.longestHoldMs).toFixed(0),
  ];
});
const titles = workloads.map(({ title }) => title);
process.stdout.write(
  `${table(['', 'ready after, ms', 'idle, MB', ...titles, 'longest hold, ms'], rows)}\n`,
);

interface Figures {
  readonly readyMs: number;
  readonly idleMb: number;
  /** Microseconds of CPU a request, by workload: of the first hundred, and of as many much later. */
  readonly first: ReadonlyMap<string, number>;
  readonly steady: ReadonlyMap<string, number>;
  /** Figures of the first seconds. */
  readonly longestHoldMs: number;
}

async function measure(folder: string): Promise<Figures> {
  const startedAtMs = performance.now();
  const ours = await startOurs(gateway, { name: folder, folder });
  await using process = ours.process;
  const readyMs = performance.now() - startedAtMs;
  const idleMb = process.residentBytes / 1e6;
  // The catalog is fetched and indexed once, warm or not.
  for (const workload of workloads) if (workload.name === 'search') await ours.ask(workload.next());
  await delay(SETTLING_MS);
  await process.ask({ ask: 'watch-holds' });
  const watchedFromMs = performance.now();
  const cost = async (workload: Workload) => {
    const before = await process.ask({ ask: 'cpu' });
    for (let at = 0; at < REQUESTS; at += CONNECTIONS) {
      const asked = Array.from({ length: CONNECTIONS }, () => ours.ask(workload.next()));
      await Promise.all(asked);
    }
    return ((await process.ask({ ask: 'cpu' })) - before) / REQUESTS;
  };
  const first = new Map<string, number>();
  for (const workload of workloads) first.set(workload.name, await cost(workload));
  await delay(Math.max(0, WATCHED_MS - (performance.now() - watchedFromMs)));
  const longestHoldMs = await process.ask({ ask: 'longest-hold' });
  const steady = new Map<string, number>();
  for (const workload of workloads) {
    await sample(ours, workload, STEADY_MS);
    const samples: number[] = [];
    for (let at = 0; at < STEADY_SAMPLES; at += 1) samples.push(await cost(workload));
    steady.set(workload.name, median(samples));
  }
  return { readyMs, idleMb, first, steady, longestHoldMs };
}
