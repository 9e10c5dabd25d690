/**
 * What one core serves: `npm run bench -- sizing [--quick]` measures home screens a second, live sockets, and memory. The
 * service runs on a core of its own, against the sandbox gateway and clients on another.
 */
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { type Sandbox, startSandbox } from '../src/sandbox/start.ts';
import { pinOwnProcess } from './support/cores.ts';
import { HOME } from './support/documents.ts';
import { LiveClients } from './support/live-clients.ts';
import { table } from './support/markdown.ts';
import { ALONE, OURS, UNLIMITED } from './support/ours.ts';
import { ProbedProcess } from './support/probed-process.ts';
import { stayAwake } from './support/stay-awake.ts';

interface Crowd {
  readonly sockets: number;
  readonly accounts: number;
}

const LIVE = `subscription { accountChanges {
  cursor snapshot status asOf totals { profit }
  positions { upserted { id symbol profit } ticks { id profit } closed }
} }`;
const isQuick = process.argv.includes('--quick');
const SMALL = { sockets: 600, accounts: 200 };
const CROWDS: readonly Crowd[] = isQuick
  ? [SMALL]
  : [SMALL, { sockets: 250, accounts: 250 }, { sockets: 1_200, accounts: 400 }];
const WARM_MS = isQuick ? 3_000 : 10_000;
const WINDOW_MS = isQuick ? 4_000 : 10_000;
const CONNECTIONS = 16;
/** One percent of a core is this many microseconds of CPU in a second. */
const MICROSECONDS_PER_PERCENT = 10_000;
/** The share of a core for which a deployment is planned. */
const PLANNED_PERCENT = 50;
const KILOBYTE = 1_000;
const MEGABYTE = 1_000_000;

pinOwnProcess();
await using gateway = await startSandbox({ seed: 'bench', tickMs: 0 });
const today = new Date().toISOString().slice(0, 10);
print(`${cpus()[0]?.model}, ${cpus().length} cores, Node ${process.version}, ${today}`);
print(await homeScreens());
const head = [
  'sockets',
  'accounts',
  'events/s',
  '% of a core',
  'sockets at half a core',
  'kB a socket',
];
process.stdout.write(`${table(head, [])}\n`);
for (const crowd of CROWDS) process.stdout.write(`| ${(await liveRow(crowd)).join(' | ')} |\n`);

/** Measures a closed loop of requests. Its rate is what the CPU of a request allows, not what this machine's client sends. */
async function homeScreens(): Promise<string> {
  await using service = await startService();
  const token = tokensOf(gateway, { sockets: 1, accounts: 1 })[0] ?? '';
  using _ticking = setInterval(() => gateway.tick(), 1_000);
  await load(service, token, WARM_MS);
  const cpu = await service.ask({ ask: 'cpu' });
  const requests = await load(service, token, WINDOW_MS);
  const each = ((await service.ask({ ask: 'cpu' })) - cpu) / requests;
  const perSecond = (MICROSECONDS_PER_PERCENT * PLANNED_PERCENT) / each;
  const idle = (await service.ask({ ask: 'memory' })) / MEGABYTE;
  return `A home screen takes ${each.toFixed(0)} µs: ${perSecond.toFixed(0)} a second at half a core. ${idle.toFixed(0)} MB of memory without sockets.`;
}

/** Sends requests for a time; returns their number. */
async function load({ port }: ProbedProcess, token: string, ms: number): Promise<number> {
  const dispatcher = new Agent({ connections: CONNECTIONS });
  const body = JSON.stringify({ query: HOME });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const endsAtMs = performance.now() + ms;
  let answered = 0;
  const loop = async () => {
    while (performance.now() < endsAtMs) {
      const url = `http://127.0.0.1:${port}/graphql`;
      const answer = await request(url, { method: 'POST', headers, body, dispatcher });
      const text = await answer.body.text();
      if (text.includes('"errors"')) throw new Error(text);
      answered += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, loop));
  await dispatcher.close();
  return answered;
}

/** Measures sockets that follow their accounts, while every poll finds other prices. */
async function liveRow(crowd: Crowd): Promise<string[]> {
  await using service = await startService();
  const clients = new LiveClients(service.port);
  using _ticking = setInterval(() => gateway.tick(), 500);
  using _awake = stayAwake();
  // Code and pools that a process has once are no sockets' memory.
  const first = new LiveClients(service.port);
  await first.connect(tokensOf(gateway, { sockets: 10, accounts: 10 }));
  await first.subscribe(LIVE);
  await delay(WARM_MS);
  first.close();
  const before = await service.ask({ ask: 'memory' });
  await clients.connect(tokensOf(gateway, crowd));
  await clients.subscribe(LIVE);
  await delay(WARM_MS);
  const { events } = clients;
  const startedAtMs = performance.now();
  const cpu = await service.ask({ ask: 'cpu' });
  await delay(WINDOW_MS);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const percent = ((await service.ask({ ask: 'cpu' })) - cpu) / seconds / MICROSECONDS_PER_PERCENT;
  const perSecond = (clients.events - events) / seconds;
  const each = ((await service.ask({ ask: 'memory' })) - before) / crowd.sockets / KILOBYTE;
  clients.close();
  // A gateway that is slower than the polls sends fewer events, so the figure goes by the CPU of an event.
  const planned = Math.round((perSecond * PLANNED_PERCENT) / percent / 100) * 100;
  const figures = [crowd.sockets, crowd.accounts, perSecond.toFixed(0), percent.toFixed(1)];
  return [...figures, planned, each.toFixed(0)].map(String);
}

function startService(): Promise<ProbedProcess> {
  return ProbedProcess.listening({
    script: OURS,
    nodeFlags: ['--expose-gc'],
    environment: {
      ...ALONE,
      ...UNLIMITED,
      LOG_LEVEL: 'warn',
      GATEWAY_URL: gateway.url,
      GATEWAY_POLLS_PER_SECOND: '100000',
      GATEWAY_CONNECTIONS: '512',
    },
  });
}

function tokensOf(sandbox: Sandbox, { sockets, accounts }: Crowd): string[] {
  return Array.from({ length: sockets }, (_, index) =>
    sandbox.token({ email: `user-${1 + (index % accounts)}@example.com` }),
  );
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
