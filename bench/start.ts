/**
 * What a start costs, and what a process holds before anybody came. `node bench/start.ts [--rounds 5]` prints Markdown;
 * it needs Linux' /proc.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { pinOwnProcess } from './support/cores.ts';
import { startGateway } from './support/gateway.ts';
import { table } from './support/markdown.ts';
import { measureStart, type Starter, type StartFigures } from './support/measure-start.ts';
import { installPeers, PEERS, PEERS_FOLDER } from './support/start-peers.ts';
import { median } from './support/statistics.ts';

const INSTRUMENTS = 5_000;
const root = join(import.meta.dirname, '..');
const OURS = { ADMIN_PORT: '0', ORDER_STORE: 'memory', LOG_LEVEL: 'warn', SHUTDOWN_DELAY_MS: '0' };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    peers: { type: 'boolean', default: true },
  },
  allowNegative: true,
});

pinOwnProcess();
const folder = mkdtempSync(join(tmpdir(), 'bench-start-'));
try {
  const gateway = await startGateway(INSTRUMENTS, 1);
  await using _ = gateway;
  const starters = [...ours(bundled()), ...(values.peers ? peers() : [])];
  const figures = new Map(starters.map((each) => [each, [] as StartFigures[]]));
  // The first start fills a compile cache, and the disk's.
  for (let round = -1; round < Number(values.rounds); round += 1) {
    for (const starter of starters) {
      const measured = await measureStart(starter, gateway);
      if (round >= 0) figures.get(starter)?.push(measured);
    }
  }
  process.stdout.write(`${startTable(figures)}\n`);
} finally {
  rmSync(folder, { recursive: true });
}

function ours(bundle: string): Starter[] {
  const endpoint = '/graphql';
  const sources = { script: join(root, 'src', 'main.ts'), endpoint };
  const cache = { NODE_COMPILE_CACHE: join(folder, 'cache') };
  return [
    {
      name: 'a bare listener',
      script: join(root, 'bench', 'contestants', 'bare-listener.ts'),
      endpoint: null,
    },
    { name: 'ours, from the sources', ...sources, environment: OURS },
    {
      name: 'ours, sources with a compile cache (`npm start`)',
      ...sources,
      environment: { ...OURS, ...cache },
    },
    { name: 'ours, bundled', script: bundle, endpoint, environment: OURS },
    {
      name: 'ours, bundled with a compile cache (the image)',
      script: bundle,
      endpoint,
      environment: { ...OURS, ...cache },
    },
  ];
}

function peers(): Starter[] {
  installPeers();
  return PEERS.map(({ name, file, endpoint }) => ({ name, script: PEERS_FOLDER + file, endpoint }));
}

/** As the Dockerfile does it. */
function bundled(): string {
  const target = join(folder, 'app', 'dist');
  mkdirSync(target, { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'app', 'package.json'));
  const args = [join(root, 'image', 'bundle.ts'), join(root, 'src'), target];
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error('the bundle was not built');
  return join(target, 'main.js');
}

function startTable(figures: ReadonlyMap<Starter, readonly StartFigures[]>): string {
  const rows = [...figures].map(([{ name }, each]) => {
    const of = (pick: (one: StartFigures) => number | null) => {
      const picked = each.map(pick).filter((one) => one !== null);
      return picked.length === 0 ? '–' : median(picked).toFixed(0);
    };
    return [
      name,
      of(({ cpuMs }) => cpuMs),
      of(({ elapsedMs }) => elapsedMs),
      of(({ idleMb }) => idleMb),
      of(({ afterScreenMb }) => afterScreenMb),
    ];
  });
  const head = ['CPU until it accepts, ms', 'elapsed, ms', 'idle, MB', 'after a home screen, MB'];
  return table(['Start', ...head], rows);
}
