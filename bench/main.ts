/** Measures this project beside the alternatives, and prints the tables as Markdown. */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cpuTable } from './cpu-table.ts';
import { profileTable, shapesTable } from './profile-table.ts';
import { CLIENTS } from './support/client-headers.ts';
import { pinOwnProcess } from './support/cores.ts';
import { openField } from './support/field.ts';

const USAGE = `npm run bench -- [options] [what]
  rows of CPU per request, all of them or those named: home, home-still, search, search-fresh, positions,
  positions-still, customer-id; beside them:
    peers     the rows beside servers made of other libraries, which are installed for it
    clients   the rows with the headers of each client; home, positions and customer-id where none is named
    profile   where the time goes, instead
    shapes    what a request allocates, and where; its promises and timers, instead
    --quick   a first impression in less than a minute
    --rounds  how often each contestant has its turn
    --beside  one more of this project's processes: a folder with another checkout of it, a flag of Node, or a
              setting as NAME=value
  or one of these, with options of its own:
    capacity  what each unit of work costs at planning load, for docs/scale.md; --rounds, --quick
    cellular  a phone's cold start, the bytes of ten minutes of a moving market, and the radio's time; --seconds
    events    the bytes of one event, as they come to a phone
    hostile   the worst that one account can do to the others
    live      live positions: CPU of an event beside a bare loop's; --quick, --part
    memory    resident memory, idle, with sockets, and after many users' first screens; --users
    phones    the longest stops by a catalog of 5,000 instruments, on Hermes and on Node without its compilers`;

const BENCHES = ['capacity', 'cellular', 'events', 'hostile', 'live', 'memory', 'phones'];
const ROWS_OF_CLIENTS = ['home', 'positions', 'customer-id'];

const given = process.argv.slice(2);
if (given.includes('--help')) print(USAGE);
else if (BENCHES.includes(given[0] ?? '')) runScript(`${given[0]}.ts`, given.slice(1));
else await measureRows();

async function measureRows(): Promise<void> {
  const { values, positionals } = parseArgs({
    args: given,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      beside: { type: 'string', multiple: true, default: [] },
    },
  });
  const usual = values.quick
    ? { warmRequests: 3_000, longestWarmMs: 1_000, sampleMs: 150, rounds: 3 }
    : { warmRequests: 60_000, longestWarmMs: 12_000, sampleMs: 300, rounds: 7 };
  const pace = { ...usual, rounds: Number(values.rounds ?? usual.rounds) };
  const what = new Set(positionals);
  const [peers, clients, profile, shapes] = ['peers', 'clients', 'profile', 'shapes'].map((name) =>
    what.delete(name),
  );

  pinOwnProcess();
  const today = new Date().toISOString().slice(0, 10);
  print(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${today}`);
  await using field = await openField({ besides: values.beside, peers: peers === true });
  const names = what.size > 0 || !clients ? [...what] : ROWS_OF_CLIENTS;
  const rows = field.workloads.filter(({ name }) => names.length === 0 || names.includes(name));
  if (names.length > 0 && rows.length !== names.length) throw new Error(USAGE);
  const few = values.quick
    ? { warmMs: 1_000, warmRequests: 3_000, profileMs: 500 }
    : { warmMs: 12_000, warmRequests: 12_000, profileMs: 3_000 };
  if (profile) print(await profileTable(field, rows, few));
  else if (shapes) print(await shapesTable(field, rows, few));
  else print(await cpuTable(field, rows, clients ? CLIENTS : CLIENTS.slice(0, 1), pace));
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
