/**
 * What the image's process holds resident: idle, with a catalog and live sockets, and after many users' first screens.
 * `npm run bench -- memory [--users 10000,20000]` prints Markdown.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { firstScreens } from './support/first-screens.ts';
import { startGateway } from './support/gateway.ts';
import { LiveClients } from './support/live-clients.ts';
import { QUERY } from './support/live-subjects.ts';
import { table } from './support/markdown.ts';
import { ALONE } from './support/ours.ts';
import { tokensLike } from './support/personal-answer.ts';
import { ProbedProcess } from './support/probed-process.ts';

const INSTRUMENTS = 5_000;
const SOCKETS = 100;
const WATCHED_MS = 60_000;
/** What Node takes by itself in a container of 2 GiB, as in deploy/kubernetes. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=1024' };
const LOOK_MS = 1_000;
const LEVEL_FOR_MS = 10_000;
const LEVEL_WITHIN_MB = 2;
const SETTLES_WITHIN_MS = 90_000;

const { values } = parseArgs({ options: { users: { type: 'string', default: '10000,20000' } } });
const groups = values.users.split(',').map(Number);

pinOwnProcess();
await using folder = await mkdtempDisposable(join(tmpdir(), 'bench-memory-'));
await using gateway = await startGateway(INSTRUMENTS, 1, true);
await gateway.setMarket('moving');
const tokens = tokensLike(gateway.tokens[0] ?? '', Math.max(...groups));
// As the Dockerfile does it.
const script = join(folder.path, 'app', 'dist', 'main.js');
const root = join(import.meta.dirname, '..');
execFileSync(process.execPath, ['scripts/image/bundle.ts', root, join(script, '..')], {
  cwd: root,
});

// The first start fills the compile cache, which is written at a graceful end only.
await (await start()).end('SIGTERM');
await using ours = await start();
const row = [await settled()];
// The catalog comes with the first screen.
await firstScreens(ours.port, tokens, 0, 1);
row.push(await highestWithSockets());
let served = 0;
for (const users of groups) {
  await firstScreens(ours.port, tokens, served, users);
  served = users;
  row.push(await settled());
}
const head = groups.map((users) => `after ${users.toLocaleString('en')} users' first screens`);
const shown = row.map((mb) => mb.toFixed(0));
console.log(table(['MB resident: idle', `catalog, ${SOCKETS} sockets`, ...head], [shown]));

function start(): Promise<ProbedProcess> {
  const environment = {
    ...HEAP,
    ...ALONE,
    LOG_LEVEL: 'warn',
    SHUTDOWN_DELAY_MS: '0',
    GATEWAY_URL: gateway.url,
    // The users come from an address each, so that the limits are those of production.
    TRUSTED_PROXIES: '127.0.0.1',
    NODE_COMPILE_CACHE: join(folder.path, 'cache'),
  };
  return ProbedProcess.listening({ script, environment, isBare: true });
}

/** Once it has stayed level: V8 collects and gives pages back some seconds after the last request. */
async function settled(): Promise<number> {
  const deadlineMs = performance.now() + SETTLES_WITHIN_MS;
  let level = { mb: residentMb(), sinceMs: performance.now() };
  while (performance.now() < deadlineMs) {
    await delay(LOOK_MS);
    const mb = residentMb();
    const nowMs = performance.now();
    if (Math.abs(mb - level.mb) > LEVEL_WITHIN_MB) level = { mb, sinceMs: nowMs };
    else if (nowMs - level.sinceMs >= LEVEL_FOR_MS) return mb;
  }
  throw new Error(`the resident memory was not level within ${SETTLES_WITHIN_MS / 1000} s`);
}

/** The highest of some time in which the process is at work: it rises and falls with each collection. */
async function highestWithSockets(): Promise<number> {
  const clients = new LiveClients(ours.port);
  await clients.connect(tokens.slice(0, SOCKETS));
  await clients.subscribe(QUERY);
  const untilMs = performance.now() + WATCHED_MS;
  let highest = 0;
  while (performance.now() < untilMs) {
    await delay(LOOK_MS);
    highest = Math.max(highest, residentMb());
  }
  clients.close();
  return highest;
}

function residentMb(): number {
  return ours.residentBytes / 1_048_576;
}
