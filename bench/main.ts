/** Measures this project beside the alternatives, and prints the tables as Markdown. */
import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { clientsTable } from './clients-table.ts';
import { cpuTable } from './cpu-table.ts';
import { latencyTable } from './latency-table.ts';
import { outageTable } from './outage-table.ts';
import { profileTable } from './profile-table.ts';
import { refreshTable } from './refresh-table.ts';
import { pinOwnProcess } from './support/cores.ts';
import { openField } from './support/field.ts';
import type { Workload } from './support/workloads.ts';
import { tlsTable } from './tls-table.ts';

const USAGE = `npm run bench -- [options] [what]
  what      a row of the first table (home, home-still, search, search-fresh, catalog, catalog-gzip,
            catalog-br, positions, positions-still, customer-id), latency, refresh, outage, tls, live, profile, clients;
            without it everything but profile
            clients: the rows home, positions and customer-id, or those named, with the headers of each client
            hostile: the worst that one account can do to the others, with options of its own (bench/hostile.ts); with
            --kind bytes the worst that a sender of bytes can
            capacity: what each unit of work costs at planning load, for docs/scale.md; --rounds, --quick (bench/capacity.ts)
            connections: what idle ones of clients cost; --count, --quick (bench/connections.ts)
            start: what a start costs, and an idle process holds; --no-peers, --rounds (bench/start.ts)
            warm: the first requests of a process beside later ones; --source, --rounds (bench/warm.ts)
            memory: resident memory, idle, with sockets, and after many users' first screens; --no-peers, --users (bench/memory.ts)
            rotation: what users who come again in turn cost; --users, --perSecond, --source (bench/rotation.ts)
            ledger: what each stage of a small request costs; --rounds, --quick (bench/ledger.ts)
            lines: what a user of the client sees on bad lines; --quick, --write, --only <part> (bench/lines.ts)
            peers: the rows beside servers made of other libraries, which are installed for it
  --quick   a first impression in less than a minute, without live
  --rounds  how often each contestant has its turn
  --beside  one more of this project's processes: a folder with another checkout of it, a flag of Node, or a
            setting as NAME=value`;

const ROWS_ALONE = ['home', 'search', 'positions', 'customer-id'];

const ROWS_OF_CLIENTS = ['home', 'positions', 'customer-id'];

const given = process.argv.slice(2);
// Benches of their own have options of their own.
const BENCHES = [
  'hostile',
  'memory',
  'capacity',
  'start',
  'warm',
  'connections',
  'lines',
  'ledger',
  'rotation',
];
const alone = BENCHES.find((name) => name === given[0]);
const { values, positionals } = parseArgs({
  args: alone ? [] : given,
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    beside: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
const { quick } = values;
const withPeers = positionals.includes('peers');
const wanted = positionals.filter((name) => name !== 'peers');
const usual = quick
  ? { warmRequests: 3_000, longestWarmMs: 1_000, sampleMs: 150, rounds: 3 }
  : { warmRequests: 60_000, longestWarmMs: 12_000, sampleMs: 300, rounds: 7 };
const pace = { ...usual, rounds: Number(values.rounds ?? usual.rounds) };

if (values.help) print(USAGE);
else if (alone) runScript(`${alone}.ts`, given.slice(1));
else await run();

async function run(): Promise<void> {
  pinOwnProcess();
  print(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${today()}`);
  await using field = await openField({ besides: values.beside, peers: withPeers });
  const { workloads } = field;
  const rows = workloads.filter(({ name }) => isWanted(name));
  if (isWanted('profile', true)) {
    const profiled = rows.length > 0 ? rows : workloads;
    print(await profileTable(field, profiled, { warmMs: 12_000, profileMs: 3_000 }));
    return;
  }
  if (isWanted('clients')) {
    const isOfClients = ({ name }: Workload) => ROWS_OF_CLIENTS.includes(name);
    const named = rows.filter(isOfClients);
    print(
      await clientsTable(field, named.length > 0 ? named : workloads.filter(isOfClients), pace),
    );
    // Rows that are named beside it say which ones it has.
    if (wanted.includes('clients')) return;
  }
  if (rows.length > 0) print(await cpuTable(field, rows, pace));
  // Peers are for the first table, unless others are requested by name.
  if (withPeers && wanted.length === 0) return;
  if (isWanted('latency')) {
    const alone = workloads.filter(({ name }) => ROWS_ALONE.includes(name));
    print(await latencyTable(field, alone, pace));
  }
  if (isWanted('refresh')) {
    const rounds = quick ? 1 : Math.ceil(pace.rounds / 2);
    print(await refreshTable(field, { rounds, durationMs: quick ? 4_000 : 10_000 }));
  }
  if (isWanted('outage')) print(await outageTable(field, pace));
  if (isWanted('tls')) print(await tlsTable(field, pace));
  if (isWanted('live', quick)) runScript('live.ts', ['--quick']);
}

function isWanted(name: string, onlyByName = false): boolean {
  return wanted.includes(name) || (wanted.length === 0 && !onlyByName);
}

/** A bench of its own, in a process of its own. */
function runScript(name: string, args: readonly string[]): void {
  const script = fileURLToPath(new URL(name, import.meta.url));
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
