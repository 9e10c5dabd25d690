import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../src/config.ts';
import { seriesValue } from '../end-to-end/operations/scraped.ts';
import { type FacadeProcess, startFacadeProcess } from './facade-process.ts';
import { freePort, freePorts } from './free-ports.ts';
import { type Program, startProgram } from './started-program.ts';

export const CONFIGURATION = fileURLToPath(
  new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url),
);

export type Replicas = Awaited<ReturnType<typeof startReplicas>>;

/** Replicas of the program behind haproxy, configured as in `deploy/haproxy`, which knows up to 32. */
export async function startReplicas(
  haproxyPath: string,
  environment: Environment & { readonly GATEWAY_URL: string },
  count = 3,
) {
  await using started = new AsyncDisposableStack();
  const all = await Promise.all(
    Array.from({ length: count }, async () => started.use(await startReplica(environment))),
  );
  const addresses = all.map(({ url }, index) => [`REPLICA_${index + 1}`, new URL(url).host]);
  const balancer = await startHaproxy(haproxyPath, CONFIGURATION, Object.fromEntries(addresses));
  started.use(balancer);
  const owned = started.move();
  return {
    /** The address of the load balancer. */
    url: balancer.url,
    webSocketUrl: `${balancer.url.replace('http', 'ws')}/graphql`,
    balancer,
    all,
    /** The sockets of each running replica, from its metrics. */
    sockets: () => gauges(all, 'sockets'),
    /** The number of accounts that all replicas poll. An account that two replicas poll counts twice. */
    feeds: async () => (await gauges(all, 'feeds')).reduce((a, b) => a + b, 0),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** Starts haproxy on a free port of this machine, and resolves when it accepts connections. */
export async function startHaproxy(
  haproxyPath: string,
  configuration: string,
  environment: Environment,
): Promise<Program & { readonly url: string }> {
  const port = await freePort();
  const BIND = `127.0.0.1:${port}`;
  const isOpen = () => canConnect(port);
  const haproxy = await startProgram(haproxyPath, ['-db', '-f', configuration], isOpen, {
    env: { ...environment, BIND },
  });
  return { url: `http://${BIND}`, ...haproxy };
}

/** Starts a replica whose ports stay the same over restarts, because the load balancer is configured with them. */
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
  const read = replicas.map((replica) => seriesValue(replica, name).catch(() => Number.NaN));
  return (await Promise.all(read)).filter((value) => !Number.isNaN(value));
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
