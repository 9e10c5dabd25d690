import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import { type FacadeProcess, startFacadeProcess } from './facade-process.ts';
import { freePort, freePorts } from './free-ports.ts';
import { startProgram } from './started-program.ts';

export const CONFIGURATION = fileURLToPath(
  new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url),
);
export interface Replica extends FacadeProcess {
  readonly adminUrl: string;
}

export interface Replicas extends AsyncDisposable {
  /** The load balancer's. */
  readonly url: string;
  readonly webSocketUrl: string;
  readonly all: readonly FacadeProcess[];
  /** The sockets of each replica that runs, as its metrics say. */
  sockets(): Promise<number[]>;
  /** The accounts that all of them poll, where one that two poll counts twice. */
  feeds(): Promise<number>;
  /** A metric without labels of each replica that runs. */
  gauges(name: string): Promise<number[]>;
}

/** Replicas of the program behind haproxy, configured as in `deploy/haproxy`, which knows up to 32. */
export async function startReplicas(
  haproxyPath: string,
  environment: Environment & { readonly GATEWAY_URL: string },
  count = 3,
): Promise<Replicas> {
  await using started = new AsyncDisposableStack();
  const all = await Promise.all(
    Array.from({ length: count }, async () => started.use(await startReplica(environment))),
  );
  const addresses = all.map(({ url }, at) => [`REPLICA_${at + 1}`, new URL(url).host]);
  const balancer = await startHaproxy(haproxyPath, CONFIGURATION, Object.fromEntries(addresses));
  started.use(balancer);
  const owned = started.move();
  return {
    url: balancer.url,
    webSocketUrl: `${balancer.url.replace('http', 'ws')}/graphql`,
    all,
    sockets: () => gauges(all, 'trading_graph_sockets'),
    feeds: async () => (await gauges(all, 'trading_graph_feeds')).reduce((a, b) => a + b, 0),
    gauges: (name) => gauges(all, name),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Resolves when it accepts connections, on a free port of this machine unless BIND names one. */
export async function startHaproxy(
  haproxyPath: string,
  configuration: string,
  environment: Environment,
  onLine?: (line: string) => void,
): Promise<AsyncDisposable & { readonly url: string }> {
  const port = await freePort();
  const { BIND = `127.0.0.1:${port}` } = environment;
  const isOpen = () => canConnect(Number(BIND.split(':').at(-1)));
  const haproxy = await startProgram(haproxyPath, ['-db', '-f', configuration], isOpen, {
    env: { ...environment, BIND },
    onLine,
  });
  return { url: `http://${BIND}`, ...haproxy };
}

/** Its ports stay the same over restarts, since the load balancer knows it by them. */
async function startReplica(
  environment: Environment & { readonly GATEWAY_URL: string },
): Promise<FacadeProcess> {
  const [port, adminPort] = await freePorts(2);
  return startFacadeProcess({
    TRUSTED_PROXIES: '127.0.0.1',
    ...environment,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  });
}

async function gauges(replicas: readonly FacadeProcess[], name: string): Promise<number[]> {
  const read = replicas.map(({ adminUrl }) => gauge(adminUrl, name).catch(() => null));
  return (await Promise.all(read)).filter((value) => value !== null);
}

async function gauge(adminUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  if (line === undefined) throw new Error(`there is no metric ${name}`);
  return Number(line.split(' ')[1]);
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
