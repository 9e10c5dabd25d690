/** Measures this project beside the alternatives, and prints the tables as Markdown. */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cpuTable, measureRows, type RowSamples } from './cpu-table.ts';
import { profileTable, shapesTable } from './profile-table.ts';
import { CLIENTS } from './support/client-headers.ts';
import { pinOwnProcess } from './support/cores.ts';
import { openSubjects } from './support/open-subjects.ts';

const USAGE = `npm run bench -- [options] [what]
  rows of CPU per request, all of them or those named: home, home-two, home-deferred, home-still, search,
  search-fresh, positions, positions-still, customer-id; beside them:
    peers     the rows beside servers made of other libraries, which are installed for it
    clients   the rows with the headers of each client; home, positions and customer-id where none is named
    profile   where the time goes, instead
    shapes    what a request allocates, and where; its promises and timers, instead
    --quick   a first impression in less than a minute
    --rounds  how often each subject has its turn
    --processes  so many of each subject, one set after the other
    --beside  one more of this project's processes: a folder with another checkout of it, a flag of Node, or a
              setting as NAME=value
  or one of these, with options of its own:
    events    the bytes of one event, as they come to a phone
    live      live positions: CPU of an event beside a bare loop's; --quick, --part
    memory    resident memory, idle, with sockets, and after many users' first screens; --users`;

const BENCHES = ['events', 'live', 'memory'];
const ROWS_OF_CLIENTS = ['home', 'positions', 'customer-id'];

const given = process.argv.slice(2);
if (given.includes('--help')) print(USAGE);
else if (BENCHES.includes(given[0] ?? '')) runScript(`${given[0]}.ts`, given.slice(1));
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
  const usual = values.quick
    ? { warmRequests: 3_000, longestWarmMs: 1_000, sampleMs: 150, rounds: 3, processes: 1 }
    : { warmRequests: 60_000, longestWarmMs: 12_000, sampleMs: 300, rounds: 7, processes: 3 };
  const { rounds = usual.rounds, processes = usual.processes } = values;
  const pace = { ...usual, rounds: Number(rounds), processes: Number(processes) };
  const what = new Set(positionals);
  const [peers, clients, profile, shapes] = ['peers', 'clients', 'profile', 'shapes'].map((name) =>
    what.delete(name),
  );

  pinOwnProcess();
  const today = new Date().toISOString().slice(0, 10);
  print(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${today}`);
  const names = what.size > 0 || !clients ? [...what] : ROWS_OF_CLIENTS;
  const runs: RowSamples[][] = [];
  let subjectNames: readonly string[] = [];
  for (let run = 0; run < pace.processes; run += 1) {
    await using subjects = await openSubjects({ besides: values.beside, peers: peers === true });
    const rows = subjects.workloads.filter(
      ({ name }) => names.length === 0 || names.includes(name),
    );
    if (names.length > 0 && rows.length !== names.length) throw new Error(USAGE);
    const few = values.quick
      ? { warmMs: 1_000, warmRequests: 3_000, profileMs: 500 }
      : { warmMs: 12_000, warmRequests: 12_000, profileMs: 3_000 };
    if (profile) return print(await profileTable(subjects, rows, few));
    if (shapes) return print(await shapesTable(subjects, rows, few));
    // What a process has answered before decides how V8 compiles the rest.
    const rotated = [...rows.slice(run % rows.length), ...rows.slice(0, run % rows.length)];
    runs.push(await measureRows(subjects, rotated, clients ? CLIENTS : CLIENTS.slice(0, 1), pace));
    subjectNames = subjects.subjects.map(({ name }) => name);
  }
  print(cpuTable(subjectNames, runs));
}

/** A bench of its own, in a process of its own. */
function runScript(name: string, args: readonly string[]): void {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
