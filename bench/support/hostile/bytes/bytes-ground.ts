import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../../test/support/eventually.ts';
import { freePort } from '../../../../test/support/free-ports.ts';
import { haproxyPath } from '../../../../test/support/machine.ts';
import { startHaproxy } from '../../../../test/support/replicas.ts';
import { accepts } from '../../accepting.ts';
import type { ProbedProcess } from '../../probed-process.ts';
import { type Settings, startHostileFacade } from '../hostile-facade.ts';
import type { HostileGateway } from '../hostile-gateway.ts';

export const FRONTS = ['direct', 'haproxy', 'nginx'] as const;
export type Front = (typeof FRONTS)[number];

export interface GroundOptions {
  readonly gateway: HostileGateway;
  readonly front: Front;
  readonly settings: Settings;
  /** The program; another checkout's, to compare. */
  readonly script: string | undefined;
}

/** What is sent to: one process, or three behind a load balancer as `deploy` configures it. */
export interface BytesGround extends AsyncDisposable {
  readonly port: number;
  readonly processes: readonly ProbedProcess[];
}

const HAPROXY = fileURLToPath(new URL('../../../../deploy/haproxy/haproxy.cfg', import.meta.url));
const NGINX = fileURLToPath(new URL('../../../../deploy/nginx/nginx.conf', import.meta.url));
const REPLICAS = 3;

export async function startBytesGround({
  gateway,
  front,
  settings,
  script,
}: GroundOptions): Promise<BytesGround> {
  await using started = new AsyncDisposableStack();
  const behind = front === 'direct' ? {} : { TRUSTED_PROXIES: '127.0.0.1' };
  const count = front === 'direct' ? 1 : REPLICAS;
  const facades = [];
  for (let at = 0; at < count; at += 1) {
    const all = { ...behind, ...settings };
    facades.push(started.use(await startHostileFacade(gateway, all, script)));
  }
  const ports = facades.map(({ port }) => port);
  const port = await startFront(front, ports, started);
  const owned = started.move();
  return {
    port,
    processes: facades.map(({ process }) => process),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function startFront(
  front: Front,
  ports: readonly number[],
  started: AsyncDisposableStack,
): Promise<number> {
  if (front === 'direct') return ports[0] as number;
  if (front === 'nginx') return started.use(await startNginx(ports)).port;
  if (haproxyPath === null) throw new Error('haproxy is needed');
  const addresses = ports.map((port, at) => [`REPLICA_${at + 1}`, `127.0.0.1:${port}`]);
  const haproxy = await startHaproxy(haproxyPath, HAPROXY, Object.fromEntries(addresses));
  return Number(new URL(started.use(haproxy).url).port);
}

/** As configured, but for the addresses and the folder of its files. */
async function startNginx(
  replicas: readonly number[],
): Promise<AsyncDisposable & { readonly port: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'nginx-'));
  const port = await freePort();
  const files = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const text = (await readFile(NGINX, 'utf8'))
    .replace(/replica-(\d):4000/g, (_all, at) => `127.0.0.1:${replicas[Number(at) - 1]}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('http {', `http {\n access_log off;\n ${files.join('\n ')}`);
  const file = join(folder, 'nginx.conf');
  await writeFile(file, `daemon off;\npid ${folder}/pid;\nerror_log /dev/null;\n${text}`);
  const nginx = spawn('nginx', ['-p', folder, '-e', '/dev/null', '-c', file], { stdio: 'ignore' });
  await eventually(() => accepts(port));
  return {
    port,
    async [Symbol.asyncDispose]() {
      await ended(nginx);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill();
  });
}
