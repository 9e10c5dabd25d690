/**
 * What an operation and a refusal cost in the pipeline alone: in one process, without HTTP, each contestant on the same core in turn.
 * `npm run bench -- pipeline [--source <another checkout>] [--rounds 9] [--times 20000] [--quick]` prints Markdown.
 */
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { table } from './support/markdown.ts';
import { PIPELINE_CASES } from './support/pipeline-cases.ts';
import { PipelineContestant } from './support/pipeline-contestant.ts';
import { median } from './support/statistics.ts';

const { values } = parseArgs({
  options: {
    source: { type: 'string' },
    rounds: { type: 'string' },
    times: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.quick ? 3 : 9));
const times = Number(values.times ?? (values.quick ? 2_000 : 20_000));
const ROUNDS_TO_WARM_UP = 2;

pinOwnProcess();
const checkouts = [join(import.meta.dirname, '..'), ...(values.source ? [values.source] : [])];
using contestants = new DisposableStack();
const opened: PipelineContestant[] = [];
for (const checkout of checkouts) {
  opened.push(contestants.use(await PipelineContestant.start(checkout)));
}

const rows: string[][] = [];
for (const operation of PIPELINE_CASES) {
  const samples = opened.map((): number[] => []);
  for (let round = -ROUNDS_TO_WARM_UP; round < rounds; round += 1) {
    for (const [at, contestant] of opened.entries()) {
      const us = await contestant.measure({ operation, times });
      if (round >= 0) samples[at]?.push(us);
    }
  }
  const [ours = Number.NaN, other] = samples.map(median);
  rows.push([
    operation.name,
    micros(ours),
    ...(other ? [micros(other), micros(ours - other)] : []),
  ]);
}
const beside = values.source ? [values.source, 'difference'] : [];
const machine = `${cpus()[0]?.model}, Node ${process.version}; µs of CPU, medians of ${rounds} × ${times}`;
process.stdout.write(`${machine}\n\n${table(['In the pipeline', 'ours', ...beside], rows)}\n`);

function micros(us: number): string {
  return us.toFixed(1);
}
