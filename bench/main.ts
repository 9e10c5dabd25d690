/** Measures this project and its alternatives, and prints the tables as Markdown. */
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { cpuTable, measureRows, type RowSamples } from './cpu-table.ts';
import { pinOwnProcess } from './support/cores.ts';
import { openSubjects } from './support/open-subjects.ts';

const USAGE = `npm run bench -- [options] [what]
  Measures the CPU per request for each of these rows, or for those that are named: home, home-still, search,
  search-fresh, positions, positions-still, customer-id. In the rows with \`still\` no price changes between requests. In
  search-fresh each search has a new term. Further arguments:
    peers        also measures servers made of other libraries, which are installed for it
    --quick      takes less than a minute, for a first impression
    --rounds     how often each subject is measured
    --processes  how often all subjects are started anew and measured; the table has the medians
    --beside     also measures this project in another form: a folder with another checkout, a flag of Node, or a
                 setting as NAME=value; --beside=--cpu-prof writes a profile
  Another benchmark, in place of rows:
    live         the CPU per live event, compared with that of a bare loop; also with --quick
    sizing       requests a second and sockets of one core, and memory per socket; also with --quick`;

const QUICK_PACE = {
  warmRequests: 3_000,
  longestWarmMs: 1_000,
  sampleMs: 150,
  rounds: 3,
  processes: 1,
};
const USUAL_PACE = {
  warmRequests: 60_000,
  longestWarmMs: 12_000,
  sampleMs: 300,
  rounds: 7,
  processes: 3,
};

const given = process.argv.slice(2);
if (given.includes('--help')) print(USAGE);
else if (given[0] === 'live') await import('./live.ts');
else if (given[0] === 'sizing') await import('./sizing.ts');
else await measure();

async function measure(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      processes: { type: 'string' },
      beside: { type: 'string', multiple: true, default: [] },
    },
  });
  const usual = values.quick ? QUICK_PACE : USUAL_PACE;
  const { rounds = usual.rounds, processes = usual.processes } = values;
  const pace = { ...usual, rounds: Number(rounds), processes: Number(processes) };
  const peers = positionals.includes('peers');
  const rowNames = new Set(positionals.filter((name) => name !== 'peers'));

  pinOwnProcess();
  const today = new Date().toISOString().slice(0, 10);
  print(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${today}`);
  const runs: RowSamples[][] = [];
  let subjectNames: readonly string[] = [];
  for (let run = 0; run < pace.processes; run += 1) {
    const options = { rows: [...rowNames], variants: values.beside, peers };
    await using subjects = await openSubjects(options);
    const rows = subjects.workloads;
    const hasUnknownName = rowNames.size > 0 && rows.length !== rowNames.size;
    if (hasUnknownName) throw new Error(USAGE);
    // Each run begins with another row, because the first requests of a process decide how V8 compiles the code.
    const first = run % rows.length;
    const rotated = [...rows.slice(first), ...rows.slice(0, first)];
    runs.push(await measureRows(subjects, rotated, pace));
    subjectNames = subjects.subjects.map(({ name }) => name);
  }
  print(cpuTable(subjectNames, runs));
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
