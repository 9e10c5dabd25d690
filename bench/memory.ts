/**
 * What a process holds resident: idle, with a catalog and live sockets, and after many users' first screens.
 * `node bench/memory.ts [--users 10000,20000] [--no-peers]` prints Markdown.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildBundle } from './support/bundle.ts';
import { CONTESTANT_CORE, pinOwnProcess } from './support/cores.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { QUERY } from './support/live-contestants.ts';
import { LiveCrowd } from './support/live-crowd.ts';
import { table } from './support/markdown.ts';
import { ALONE } from './support/ours.ts';
import { tokensLike } from './support/personal-answer.ts';
import { ProbedProcess } from './support/probed-process.ts';
import { firstScreens, highestMb, settledMb } from './support/resident.ts';
import { installPeers, PEERS, PEERS_FOLDER } from './support/start-peers.ts';

const INSTRUMENTS = 5_000;
const SOCKETS = 100;
const WATCHED_MS = 60_000;
/** What Node takes by itself in a container of 2 GiB, as in deploy/kubernetes. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=1024' };
const BESIDE = ['yoga, Pothos', 'Mercurius, jit'];

type Environment = Readonly<Record<string, string>>;

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '10000,20000' },
    peers: { type: 'boolean', default: true },
  },
  allowNegative: true,
});
const crowds = values.users.split(',').map(Number);

pinOwnProcess();
const folder = mkdtempSync(join(tmpdir(), 'bench-memory-'));
try {
  const gateway = await startGateway(INSTRUMENTS, 1, true);
  await using _ = gateway;
  await gateway.setMarket('moving');
  const tokens = tokensLike(gateway.tokens[0] ?? '', Math.max(...crowds));
  const rows: string[][] = [await bareRow(), await oursRow(gateway, tokens)];
  if (values.peers) {
    installPeers();
    for (const { name, file, endpoint } of PEERS.filter(({ name }) => BESIDE.includes(name))) {
      await using peer = await start(PEERS_FOLDER + file, { ...HEAP, GATEWAY_URL: gateway.url });
      rows.push([name, ...(await cellsOf(peer, endpoint, tokens))]);
    }
  }
  const head = crowds.map((users) => `after ${users.toLocaleString('en')} users' first screens`);
  process.stdout.write(
    `${table(['Resident, MB', 'idle', `catalog, ${SOCKETS} sockets`, ...head], rows)}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

function start(script: string, environment: Environment): Promise<ProbedProcess> {
  return ProbedProcess.listening({ script, environment, core: CONTESTANT_CORE, isBare: true });
}

async function bareRow(): Promise<string[]> {
  await using bare = await start(join(import.meta.dirname, 'contestants/bare-listener.ts'), {});
  return ['a bare listener', await settled(bare), '–', ...crowds.map(() => '–')];
}

async function oursRow(gateway: Gateway, tokens: readonly string[]): Promise<string[]> {
  const script = buildBundle(folder);
  const environment = {
    ...HEAP,
    ...ALONE,
    LOG_LEVEL: 'warn',
    SHUTDOWN_DELAY_MS: '0',
    GATEWAY_URL: gateway.url,
    // The users come from an address each, so that the limits are those of production.
    TRUSTED_PROXIES: '127.0.0.1',
    NODE_COMPILE_CACHE: join(folder, 'cache'),
  };
  // The first start fills the compile cache.
  await (await start(script, environment)).end();
  await using started = await start(script, environment);
  return ['ours, the image', ...(await cellsOf(started, '/graphql', tokens, true))];
}

async function cellsOf(
  started: ProbedProcess,
  endpoint: string,
  tokens: readonly string[],
  hasSockets = false,
): Promise<string[]> {
  const url = `http://127.0.0.1:${started.port}${endpoint}`;
  const cells = [await settled(started)];
  // The catalog comes with the first screen.
  await firstScreens(url, tokens, { from: 0, to: 1 });
  cells.push(hasSockets ? await withSockets(started, tokens) : '–');
  let served = 0;
  for (const users of crowds) {
    await firstScreens(url, tokens, { from: served, to: users });
    served = users;
    cells.push(await settled(started));
  }
  return cells;
}

async function withSockets(started: ProbedProcess, tokens: readonly string[]): Promise<string> {
  const crowd = new LiveCrowd(started.port);
  await crowd.connect(tokens.slice(0, SOCKETS));
  await crowd.subscribe(QUERY);
  const highest = await highestMb(started, WATCHED_MS);
  crowd.close();
  return highest.toFixed(0);
}

async function settled(started: ProbedProcess): Promise<string> {
  return (await settledMb(started)).toFixed(0);
}
