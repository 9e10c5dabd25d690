import { fileURLToPath } from 'node:url';
import { freePorts } from '../../test/support/free-ports.ts';
import { haproxyPath, redisServerPath } from '../../test/support/machine.ts';
import { startTestRedis } from '../../test/support/redis.ts';
import { startHaproxy } from '../../test/support/replicas.ts';
import { accepting } from './accepting.ts';
import { CONTESTANT_CORE } from './cores.ts';
import { ProbedProcess } from './probed-process.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const CONFIGURATION = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url));

/** Replicas behind haproxy with a Redis, all on one core: their CPU time says what a core of their own would carry. */
export interface ReplicaField extends AsyncDisposable {
  /** The load balancer's. */
  readonly port: number;
  readonly processes: readonly ProbedProcess[];
  /** Microseconds of all replicas together. */
  cpu(): Promise<number>;
  /** Resident bytes of all replicas together, after their garbage was collected. */
  memory(): Promise<number>;
}

export async function startReplicaField(
  count: number,
  gatewayUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<ReplicaField> {
  if (haproxyPath === null || redisServerPath === null) {
    throw new Error('haproxy and redis-server are needed');
  }
  await using started = new AsyncDisposableStack();
  const redis = started.use(await startTestRedis(redisServerPath, { args: DURABLE }));
  const ports = await freePorts(count);
  const processes = ports.map((port) =>
    started.use(
      new ProbedProcess({
        script: MAIN,
        core: CONTESTANT_CORE,
        nodeFlags: ['--expose-gc'],
        environment: {
          NODE_ENV: 'production',
          PORT: String(port),
          ADMIN_PORT: '0',
          LOG_LEVEL: 'warn',
          GATEWAY_URL: gatewayUrl,
          REDIS_URL: redis.url,
          TRUSTED_PROXIES: '127.0.0.1',
          GATEWAY_POLLS_PER_SECOND: '100000',
          GATEWAY_CONNECTIONS: '512',
          RATE_LIMIT_PER_MINUTE: '1000000000',
          COST_LIMIT_PER_MINUTE: '1000000000000',
          ...settings,
        },
      }),
    ),
  );
  await Promise.all(ports.map((port, at) => accepting(processes[at] as ProbedProcess, port)));
  const addresses = ports.map((port, at) => [`REPLICA_${at + 1}`, `127.0.0.1:${port}`]);
  const haproxy = started.use(
    await startHaproxy(haproxyPath, CONFIGURATION, Object.fromEntries(addresses)),
  );
  const owned = started.move();
  const sum = async (read: (process: ProbedProcess) => Promise<number>) =>
    (await Promise.all(processes.map(read))).reduce((one, other) => one + other, 0);
  return {
    port: Number(new URL(haproxy.url).port),
    processes,
    cpu: () => sum((process) => process.ask({ ask: 'cpu' })),
    memory: () =>
      sum(async (process) => {
        await process.ask({ ask: 'heap' });
        return process.ask({ ask: 'memory' });
      }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** As docs/orders.md asks for. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];
