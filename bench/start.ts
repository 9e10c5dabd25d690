/** What a start costs, and what a process holds before anybody came. `node bench/start.ts [--rounds 5]` prints Markdown. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Starter } from './support/bare-process.ts';
import { buildBundle } from './support/bundle.ts';
import { CONTESTANT_CORE, onCore, pinOwnProcess } from './support/cores.ts';
import { startGateway } from './support/gateway.ts';
import { table } from './support/markdown.ts';
import { measureStart, type StartFigures } from './support/measure-start.ts';
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
  const starters = [...ours(buildBundle(folder)), ...(values.peers ? peers() : [])];
  const figures = new Map(starters.map((each) => [each, [] as StartFigures[]]));
  // The first start fills a compile cache, and the disk's.
  for (let round = -1; round < Number(values.rounds); round += 1) {
    for (const starter of starters) {
      const measured = await measureStart(starter, gateway);
      if (round >= 0) figures.get(starter)?.push(measured);
    }
  }
  process.stdout.write(`${startTable(figures)}\n\n${partsTable(Number(values.rounds))}\n`);
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

/** What each part of the sources takes with a compile cache, loaded one after the other. */
function partsTable(rounds: number): string {
  const script = join(root, 'bench', 'contestants', 'parts.ts');
  const env = { PATH: process.env.PATH, NODE_COMPILE_CACHE: join(folder, 'cache') };
  const runs: Shares[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const [command = '', ...args] = onCore(CONTESTANT_CORE, process.execPath, [script]);
    const shares = JSON.parse(execFileSync(command, args, { env, encoding: 'utf8' })) as Shares;
    if (round >= 0) runs.push(shares);
  }
  const names = Object.keys(runs[0] ?? {});
  const rows = names.map((name) => {
    const of = (pick: (share: Shares[string]) => number) =>
      median(runs.map((run) => pick(run[name] as Shares[string])));
    return [name, of(({ cpuMs }) => cpuMs).toFixed(0), of((it) => it.residentMb).toFixed(1)];
  });
  return table(['Part of the sources', 'CPU, ms', 'resident, MB'], rows);
}

type Shares = Record<string, { readonly cpuMs: number; readonly residentMb: number }>;

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
