import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, pick } from '../../../sandbox/random.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import { freePort } from '../free-ports.ts';
import { startTestRedis } from '../redis.ts';
import { CONFIGURATION, startHaproxy } from '../replicas.ts';
import { startAlertmanager } from './alertmanager.ts';
import { startFrontProbe } from './front-probe.ts';
import { startPrometheus } from './prometheus.ts';
import { NightReplica } from './replica.ts';
import type { SmallDisk } from './small-disk.ts';
import { startTlsGateway } from './tls-gateway.ts';
import { startTraffic } from './traffic.ts';

export interface StageOptions {
  readonly prometheusPath: string;
  readonly alertmanagerPath: string;
  readonly haproxyPath: string;
  readonly redisServerPath: string;
  /** Where the order records are in a file on it, which the replicas share; null where they are in Redis. */
  readonly disk: SmallDisk | null;
  /** Whether the replicas reach the gateway by TLS, and know who has signed its certificate. */
  readonly isGatewayTls: boolean;
  readonly environment: Environment;
  /** Decides which replica a fault hits. */
  readonly seed: string;
  readonly hastenedBy: number;
  readonly accounts: number;
  readonly requestsPerSecond: number;
}

/** A line of the log. */
export type Line = Readonly<Record<string, unknown>>;

const REPLICAS = 3;
/** By haproxy, that a replica is back. */
const NOTICED_MS = 1_500;

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Replicas behind haproxy, their gateway, a Redis, a Prometheus, and traffic that goes on. */
export async function openStage(options: StageOptions) {
  const { redisServerPath, haproxyPath, hastenedBy, environment, disk } = options;
  await using started = new AsyncDisposableStack();
  const redis = disk === null ? started.use(await startTestRedis(redisServerPath)) : null;
  let gateway = await startGateway({ secret: environment.JWT_SECRET });
  started.defer(() => gateway.close());
  const tls = started.use(await startTlsGateway(gateway.port));
  const shared = {
    GATEWAY_URL: gateway.url,
    RATE_LIMIT_PER_MINUTE: '1000000',
    LOGIN_LIMIT_PER_MINUTE: '1000',
    TRUSTED_PROXIES: '127.0.0.1',
    ...(disk && { ORDER_STORE: `${disk.folder}/orders.db` }),
    ...(redis && { REDIS_URL: redis.url }),
    ...(options.isGatewayTls && { GATEWAY_URL: tls.url, NODE_EXTRA_CA_CERTS: tls.authority }),
    ...environment,
  };
  const replicas = await Promise.all(
    Array.from({ length: REPLICAS }, () => NightReplica.start(shared)),
  );
  const stopAll = async () => void (await Promise.all(replicas.map((replica) => replica.kill())));
  started.defer(stopAll);
  const servers = replicas.map(({ address }, at) => [`REPLICA_${at + 1}`, address]);
  const front = { ...Object.fromEntries(servers), BIND: `127.0.0.1:${await freePort()}` };
  const balancerLog: string[] = [];
  const startBalancer = () =>
    startHaproxy(haproxyPath, CONFIGURATION, front, (line) => balancerLog.push(line));
  let balancer = await startBalancer();
  started.defer(() => balancer[Symbol.asyncDispose]());
  const probe = started.use(await startFrontProbe(balancer.url));
  const alertmanager = started.use(await startAlertmanager(options.alertmanagerPath, hastenedBy));
  const prometheus = started.use(
    await startPrometheus(options.prometheusPath, {
      ...{ probe: probe.address, alertmanager: alertmanager.url, hastenedBy },
      targets: replicas.map(({ adminAddress }) => adminAddress),
    }),
  );
  const signIn = (user: number) => gateway.token({ email: `user-${user}@example.com` });
  started.use(startTraffic({ ...options, url: balancer.url, signIn }));
  const random = createRandom(options.seed);
  const owned = started.move();
  return {
    ...{ disk, redis, tls, prometheus, alertmanager, replicas, stopAll },
    get gateway(): Sandbox {
      return gateway;
    },
    /** Every line so far by its source: each replica, over all its lives, and the load balancer. */
    get logs(): readonly (readonly string[])[] {
      return [...replicas.map(({ logged }) => logged), balancerLog];
    },
    /** The replica that a fault of one alone hits. */
    drawReplica: () => pick(random, replicas),
    /** At the same address as before. */
    async restartGateway(changed: SandboxOptions = {}): Promise<void> {
      await gateway.close();
      gateway = await startGateway({ ...changed, port: gateway.port });
    },
    /** One after the other, as in a roll-out: the front door stays open. */
    async restartAll(changed: Environment = {}): Promise<void> {
      for (const replica of replicas) {
        await replica.restart(changed);
        await delay(NOTICED_MS);
      }
    },
    stopBalancer: async () => balancer[Symbol.asyncDispose](),
    async restartBalancer(): Promise<void> {
      balancer = await startBalancer();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function startGateway(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed: 'night', instruments: 100, tickMs: 500, ...options });
  // Its catalog is as old as the hour; here it is as old as its answer, so that it can be fetched every few seconds.
  sandbox.changeCatalog({ ageSeconds: null });
  return sandbox;
}
