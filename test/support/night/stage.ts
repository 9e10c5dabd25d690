import { setTimeout as delay } from 'node:timers/promises';
import { createRandom, type Random } from '../../../sandbox/random.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import { freePort } from '../free-ports.ts';
import { startTestRedis, type TestRedis } from '../redis.ts';
import { CONFIGURATION, startHaproxy } from '../replicas.ts';
import { type Alertmanager, startAlertmanager } from './alertmanager.ts';
import { type FrontProbe, startFrontProbe } from './front-probe.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { NightReplica } from './replica.ts';
import type { SmallDisk } from './small-disk.ts';
import { startTlsGateway, type TlsGateway } from './tls-gateway.ts';
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

/** Replicas behind haproxy, their gateway, a Redis, a Prometheus, and traffic that goes on. */
export class Stage implements AsyncDisposable {
  readonly #resources = new AsyncDisposableStack();
  readonly #balancerLog: string[] = [];
  readonly disk: SmallDisk | null;
  readonly redis: TestRedis | null;
  readonly random: Random;
  readonly tls: TlsGateway;
  #replicas: readonly NightReplica[] = [];
  #sandbox: Sandbox;
  #prometheus: Prometheus | null = null;
  #alertmanager: Alertmanager | null = null;
  #balancer: AsyncDisposable | null = null;
  #startBalancer: (() => Promise<AsyncDisposable & { readonly url: string }>) | null = null;

  private constructor(
    sandbox: Sandbox,
    tls: TlsGateway,
    redis: TestRedis | null,
    options: StageOptions,
  ) {
    this.#sandbox = sandbox;
    this.tls = tls;
    this.redis = redis;
    this.disk = options.disk;
    this.random = createRandom(options.seed);
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { redisServerPath, haproxyPath, hastenedBy, environment, disk } = options;
    const redis = disk === null ? await startTestRedis(redisServerPath) : null;
    const sandbox = await startGateway({ secret: environment.JWT_SECRET });
    const tls = await startTlsGateway(sandbox.port);
    const stage = new Stage(sandbox, tls, redis, options);
    const resources = stage.#resources;
    resources.use(tls);
    if (redis) resources.use(redis);
    resources.defer(() => stage.#sandbox.close());
    try {
      const shared = {
        GATEWAY_URL: sandbox.url,
        RATE_LIMIT_PER_MINUTE: '1000000',
        LOGIN_LIMIT_PER_MINUTE: '1000',
        TRUSTED_PROXIES: '127.0.0.1',
        ...(disk && { ORDER_STORE: `${disk.folder}/orders.db` }),
        ...(redis && { REDIS_URL: redis.url }),
        ...(options.isGatewayTls && { GATEWAY_URL: tls.url, NODE_EXTRA_CA_CERTS: tls.authority }),
        ...environment,
      };
      stage.#replicas = await Promise.all(
        Array.from({ length: REPLICAS }, () => NightReplica.start(shared)),
      );
      resources.defer(() => stage.stopAll());
      const servers = stage.#replicas.map(({ address }, at) => [`REPLICA_${at + 1}`, address]);
      const front = { ...Object.fromEntries(servers), BIND: `127.0.0.1:${await freePort()}` };
      stage.#startBalancer = () =>
        startHaproxy(haproxyPath, CONFIGURATION, front, (line) => stage.#balancerLog.push(line));
      const balancer = await stage.#startBalancer();
      resources.defer(() => stage.stopBalancer());
      const probe: FrontProbe = resources.use(await startFrontProbe(balancer.url));
      stage.#balancer = balancer;
      const targets = stage.#replicas.map(({ adminAddress }) => adminAddress);
      stage.#alertmanager = resources.use(
        await startAlertmanager(options.alertmanagerPath, hastenedBy),
      );
      stage.#prometheus = resources.use(
        await startPrometheus(options.prometheusPath, {
          ...{ targets, probe: probe.address, hastenedBy },
          alertmanager: stage.#alertmanager.url,
        }),
      );
      const signIn = (user: number) => stage.#sandbox.token({ email: `user-${user}@example.com` });
      resources.use(startTraffic({ ...options, url: balancer.url, signIn }));
    } catch (error) {
      await resources.disposeAsync();
      throw error;
    }
    return stage;
  }

  get gateway(): Sandbox {
    return this.#sandbox;
  }

  get prometheus(): Prometheus {
    if (this.#prometheus === null) throw new Error('the stage is not open yet');
    return this.#prometheus;
  }

  get alertmanager(): Alertmanager {
    if (this.#alertmanager === null) throw new Error('the stage is not open yet');
    return this.#alertmanager;
  }

  get replicas(): readonly NightReplica[] {
    return this.#replicas;
  }

  /** The replica that a fault of one alone hits. */
  drawReplica(): NightReplica {
    const drawn = this.#replicas[Math.floor(this.random() * this.#replicas.length)];
    if (drawn === undefined) throw new Error('there is no replica');
    return drawn;
  }

  /** Every line so far by its source: each replica, over all its lives, and the load balancer. */
  get logs(): readonly (readonly string[])[] {
    return [...this.#replicas.map(({ logged }) => logged), this.#balancerLog];
  }

  /** At the same address as before. */
  async restartGateway(options: SandboxOptions = {}): Promise<void> {
    await this.#sandbox.close();
    this.#sandbox = await startGateway({ ...options, port: this.#sandbox.port });
  }

  /** One after the other, as in a roll-out: the front door stays open. */
  async restartAll(environment: Environment = {}): Promise<void> {
    for (const replica of this.#replicas) {
      await replica.restart(environment);
      await delay(NOTICED_MS);
    }
  }

  async stopBalancer(): Promise<void> {
    await this.#balancer?.[Symbol.asyncDispose]();
    this.#balancer = null;
  }

  async restartBalancer(): Promise<void> {
    this.#balancer = (await this.#startBalancer?.()) ?? null;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#replicas.map((replica) => replica.kill()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

async function startGateway(options: SandboxOptions = {}): Promise<Sandbox> {
  const sandbox = await startSandbox({ seed: 'night', instruments: 100, tickMs: 500, ...options });
  // Its catalog is as old as the hour; here it is as old as its answer, so that it can be fetched every few seconds.
  sandbox.changeCatalog({ ageSeconds: null });
  return sandbox;
}
