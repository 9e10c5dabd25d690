/**
 * Measures this project beside what else could stand in its place, and prints the tables as Markdown.
 * `npm run bench -- [--quick] [--rounds <n>] [--beside <folder or Node flag>]… [rows, latency, refresh, live, profile]`
 */
import { parseArgs } from 'node:util';
import { cpuTable } from './cpu-table.ts';
import { latencyTable } from './latency-table.ts';
import { pinOwnProcess } from './support/cores.ts';
import { openField } from './support/field.ts';

const ALONE = ['home', 'search', 'positions', 'customer-id'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    beside: { type: 'string', multiple: true, default: [] },
  },
});
const usual = values.quick
  ? { warmMs: 500, sampleMs: 250, rounds: 3 }
  : { warmMs: 1_500, sampleMs: 400, rounds: 7 };
const pace = { ...usual, rounds: Number(values.rounds ?? usual.rounds) };
const wanted = (name: string) => positionals.length === 0 || positionals.includes(name);

pinOwnProcess();
await using field = await openField(values.beside);
const rows = field.workloads.filter(({ name }) => wanted(name));
if (rows.length > 0) print(await cpuTable(field, rows, pace));
if (wanted('latency')) {
  const alone = field.workloads.filter(({ name }) => ALONE.includes(name));
  print(await latencyTable(field, alone, { rounds: pace.rounds, sampleMs: pace.sampleMs / 2 }));
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
