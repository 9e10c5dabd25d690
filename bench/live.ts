/**
 * CPU of a live event, compared with a bare loop that makes the same polls and sends the same bytes: `npm run bench -- live
 * [--quick]`. Both run under the same clients at the same time, on the same core, so that the machine's other load affects
 * both equally.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Sandbox, startSandbox } from '../src/sandbox/start.ts';
import { pathOf } from '../test/support/ask-gateway.ts';
import { pinOwnProcess } from './support/cores.ts';
import { LiveClients } from './support/live-clients.ts';
import { table } from './support/markdown.ts';
import { ALONE, OURS, UNLIMITED } from './support/ours.ts';
import { ProbedProcess } from './support/probed-process.ts';
import { median } from './support/statistics.ts';
import { stayAwake } from './support/stay-awake.ts';

interface Size {
  readonly sockets: number;
  readonly accounts: number;
}

interface Window {
  readonly events: number;
  readonly seconds: number;
  readonly cpuMicroseconds: number;
}

const QUERY = `subscription { positionChanges {
  cursor snapshot upserted { id symbol side units priceOpen priceCurrent profit } opened closed
  totals { count invested profit } status asOf
} }`;
const INTERVAL_MS = 1_000;
const isQuick = process.argv.includes('--quick');
const SHARED = { sockets: 500, accounts: 100 };
const APART = { sockets: 1_000, accounts: 1_000 };
const SIZES = isQuick ? [SHARED, APART] : [SHARED, APART, { sockets: 5_000, accounts: 1_000 }];
const WINDOW_MS = isQuick ? 3_000 : 6_000;
const WINDOWS = isQuick ? 1 : 3;
/** In this time Node compiles the code that runs often. */
const WARM_MS = isQuick ? 5_000 : 30_000;
/** The orders in which the clients of both processes connect, by the indexes of `processes`. */
const OURS_FIRST = [0, 1];
const LOOP_FIRST = [1, 0];
/** One percent of a core is this many microseconds of CPU in a second. */
const MICROSECONDS_PER_PERCENT = 10_000;

pinOwnProcess();
await using gateway = await startSandbox({ seed: 'bench', tickMs: 0 });
await using ours = await start(OURS);
const message = await sampleOf(ours);
await using loop = await start(
  fileURLToPath(new URL('subjects/bare-live.ts', import.meta.url)),
  message,
);
const processes = [ours, loop];
// The result of this first window, which warms the processes, is not used.
await windowsUnder(SHARED, OURS_FIRST, 1, WARM_MS);
for (const size of SIZES) {
  // Events of the clients that connect first cost more, so each process has them in half of the windows.
  const windows = [
    ...(await windowsUnder(size, OURS_FIRST, WINDOWS, WINDOW_MS)),
    ...(await windowsUnder(size, LOOP_FIRST, WINDOWS, WINDOW_MS)),
  ];
  process.stdout.write(`${tableOf(size, windows)}\n\n`);
}

function start(script: string, sent = ''): Promise<ProbedProcess> {
  return ProbedProcess.listening({
    script,
    environment: {
      ...ALONE,
      ...UNLIMITED,
      LOG_LEVEL: 'warn',
      GATEWAY_URL: gateway.url,
      POSITIONS_POLL_MS: String(INTERVAL_MS),
      GATEWAY_POLLS_PER_SECOND: '100000',
      // The polls use a quarter of the connections, which is as many as the bare loop has.
      GATEWAY_CONNECTIONS: '512',
      LIST_PATH: pathOf('getOpenPositions'),
      MESSAGE: sent,
    },
  });
}

/** Returns an event of the service, which the bare loop sends unchanged. */
async function sampleOf({ port }: ProbedProcess): Promise<string> {
  const clients = new LiveClients(port);
  await clients.connect(tokensOf(gateway, { sockets: 1, accounts: 1 }));
  await clients.subscribe(QUERY);
  const sample = clients.sample();
  gateway.tick();
  const event = await sample;
  clients.close();
  return event;
}

/** Measures `count` windows of `ms` each, while both processes serve the same number of sockets. */
async function windowsUnder(size: Size, order: readonly number[], count: number, ms: number) {
  const groups = processes.map(({ port }) => new LiveClients(port));
  // Prices change twice in an interval, so that each poll finds a change.
  using _ticking = setInterval(() => gateway.tick(), INTERVAL_MS / 2);
  using _awake = stayAwake();
  for (const index of order) {
    await groups[index]?.connect(tokensOf(gateway, size));
    await groups[index]?.subscribe(QUERY);
  }
  const windows: Window[][] = [];
  for (let window = 0; window < count; window += 1) {
    const ofBoth = groups.map((clients, index) =>
      windowOf(clients, processes[index] as ProbedProcess, ms),
    );
    windows.push(await Promise.all(ofBoth));
  }
  for (const clients of groups) clients.close();
  return windows;
}

async function windowOf(clients: LiveClients, process: ProbedProcess, ms: number): Promise<Window> {
  const startedAtMs = performance.now();
  const cpu = await process.ask({ ask: 'cpu' });
  const { events } = clients;
  await delay(ms);
  return {
    events: clients.events - events,
    seconds: (performance.now() - startedAtMs) / 1_000,
    cpuMicroseconds: (await process.ask({ ask: 'cpu' })) - cpu,
  };
}

function tableOf({ sockets, accounts }: Size, windows: readonly Window[][]): string {
  const row = (title: string, read: (window: Window) => number, digits: number) => [
    title,
    ...processes.map((_, index) =>
      median(windows.map((pair) => read(pair[index] as Window))).toFixed(digits),
    ),
  ];
  const rows = [
    row('events per second', ({ events, seconds }) => events / seconds, 0),
    row('share of one core, %', percentOfCore, 1),
    row('CPU per event, µs', perEvent, 1),
  ];
  const ratio = median(windows.map(([own, bare]) => perEvent(own) / perEvent(bare)));
  const head = `${sockets} sockets over ${accounts} accounts, ${message.length} bytes an event`;
  return `${table([head, 'ours', 'bare loop'], rows)}\n\n${ratio.toFixed(2)} times the CPU for an event.`;
}

function percentOfCore({ cpuMicroseconds, seconds }: Window): number {
  return cpuMicroseconds / seconds / MICROSECONDS_PER_PERCENT;
}

function perEvent(window: Window | undefined): number {
  return window === undefined ? Number.NaN : window.cpuMicroseconds / window.events;
}

function tokensOf(sandbox: Sandbox, { sockets, accounts }: Size): string[] {
  return Array.from({ length: sockets }, (_, index) =>
    sandbox.token({ email: `user-${1 + (index % accounts)}@example.com` }),
  );
}
