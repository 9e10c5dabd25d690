/**
 * What a process holds resident: idle, with a catalog and live sockets, and after many users' first screens.
 * `node bench/memory.ts [--users 10000,20000] [--no-peers]` prints Markdown.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../test/support/free-ports.ts';
import { BareProcess, type Starter } from './support/bare-process.ts';
import { buildBundle } from './support/bundle.ts';
import { pinOwnProcess } from './support/cores.ts';
import { type Gateway, startGateway } from './support/gateway.ts';
import { QUERY } from './support/live-contestants.ts';
import { LiveCrowd } from './support/live-crowd.ts';
import { table } from './support/markdown.ts';
import { tokensLike } from './support/personal-answer.ts';
import { firstScreens, highestMb, settledMb } from './support/resident.ts';
import { installPeers, PEERS, PEERS_FOLDER } from './support/start-peers.ts';

const INSTRUMENTS = 5_000;
const SOCKETS = 100;
const WATCHED_MS = 60_000;
/** What Node takes by itself in a container of 2 GiB, as in deploy/kubernetes. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=1024' };
const BESIDE = ['yoga.mjs', 'mercurius.mjs'];

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
  const gateway = await startGateway(INSTRUMENTS, 1, { personal: true });
  await using _ = gateway;
  await gateway.order({ market: 'moving' });
  const tokens = tokensLike(gateway.tokens[0] ?? '', Math.max(...crowds));
  const rows: string[][] = [await bareRow(gateway), await oursRow(gateway, tokens)];
  if (values.peers) {
    installPeers();
    for (const { name, file, endpoint } of PEERS.filter((peer) => BESIDE.includes(peer.file))) {
      rows.push(
        await rowOf(
          { name, script: PEERS_FOLDER + file, endpoint, environment: HEAP },
          gateway,
          tokens,
        ),
      );
    }
  }
  const head = crowds.map((users) => `after ${users.toLocaleString('en')} users' first screens`);
  process.stdout.write(
    `${table(['Resident, MB', 'idle', `catalog, ${SOCKETS} sockets`, ...head], rows)}\n`,
  );
} finally {
  rmSync(folder, { recursive: true });
}

async function bareRow(gateway: Gateway): Promise<string[]> {
  const name = 'a bare listener';
  const script = join(import.meta.dirname, 'contestants', 'bare-listener.ts');
  await using bare = await BareProcess.start({ name, script, endpoint: null }, gateway);
  return [name, await settled(bare), '–', ...crowds.map(() => '–')];
}

async function oursRow(gateway: Gateway, tokens: readonly string[]): Promise<string[]> {
  const adminPort = await freePort();
  const starter = {
    name: 'ours, the image',
    script: buildBundle(folder),
    endpoint: '/graphql',
    environment: {
      ...HEAP,
      ADMIN_PORT: String(adminPort),
      ORDER_STORE: 'memory',
      LOG_LEVEL: 'warn',
      SHUTDOWN_DELAY_MS: '0',
      // The users come from an address each, so that the limits are those of production.
      TRUSTED_PROXIES: '127.0.0.1',
      NODE_COMPILE_CACHE: join(folder, 'cache'),
    },
  };
  // The first start fills the compile cache.
  await (await BareProcess.start(starter, gateway))[Symbol.asyncDispose]();
  return rowOf(starter, gateway, tokens, async (port) => {
    const crowd = new LiveCrowd(port);
    await crowd.connect(tokens.slice(0, SOCKETS));
    await crowd.subscribe(QUERY);
    return crowd;
  });
}

async function rowOf(
  starter: Starter,
  gateway: Gateway,
  tokens: readonly string[],
  gather?: (port: number) => Promise<LiveCrowd>,
): Promise<string[]> {
  await using started = await BareProcess.start(starter, gateway);
  const url = `http://127.0.0.1:${started.port}${starter.endpoint}`;
  const cells = [await settled(started)];
  // The catalog comes with the first screen.
  await firstScreens(url, tokens, { from: 0, to: 1 });
  const crowd = await gather?.(started.port);
  cells.push(crowd ? (await highestMb(started, WATCHED_MS)).toFixed(0) : '–');
  crowd?.close();
  let served = 0;
  for (const users of crowds) {
    await firstScreens(url, tokens, { from: served, to: users });
    served = users;
    cells.push(await settled(started));
  }
  return [starter.name, ...cells];
}

async function settled(started: BareProcess): Promise<string> {
  return (await settledMb(started)).toFixed(0);
}
