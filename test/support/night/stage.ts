import type { Environment } from '../../../src/config.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/start.ts';
import { type FacadeProcess, startFacadeProcess } from '../facade-process.ts';
import { freePorts } from '../free-ports.ts';
import { startTestRedis, type TestRedis } from '../redis.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import type { SmallDisk } from './small-disk.ts';
import { startTraffic } from './traffic.ts';

export interface StageOptions {
  readonly prometheusPath: string;
  /** Null where the scene needs no Redis. */
  readonly redisServerPath: string | null;
  /** Null where the order records are elsewhere. */
  readonly disk: SmallDisk | null;
  readonly environment: Environment;
  readonly hastenedBy: number;
  readonly accounts: number;
  readonly requestsPerSecond: number;
}

/** A line of the log. */
export type Line = Readonly<Record<string, unknown>>;

/** The service as a process, its gateway, a Redis, a Prometheus, and traffic that goes on. */
export class Stage implements AsyncDisposable {
  readonly #environment: Environment & { readonly GATEWAY_URL: string };
  readonly #resources = new AsyncDisposableStack();
  readonly redis: TestRedis | null;
  readonly disk: SmallDisk | null;
  readonly adminUrl: string;
  #sandbox: Sandbox;
  #facade: FacadeProcess | null = null;
  #prometheus: Prometheus | null = null;
  /** Of the processes that have ended. */
  readonly #former: string[] = [];

  private constructor(
    sandbox: Sandbox,
    { redis, disk }: Pick<Stage, 'redis' | 'disk'>,
    environment: Environment & { readonly ADMIN_PORT: string },
  ) {
    this.#sandbox = sandbox;
    this.redis = redis;
    this.disk = disk;
    this.adminUrl = `http://127.0.0.1:${environment.ADMIN_PORT}`;
    this.#environment = { GATEWAY_URL: sandbox.url, ...environment };
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { redisServerPath, prometheusPath, hastenedBy, environment, disk } = options;
    const redis = redisServerPath === null ? null : await startTestRedis(redisServerPath);
    const [port, adminPort] = await freePorts(2);
    const secret = environment.JWT_SECRET;
    const stage = new Stage(
      await startGateway({ secret }),
      { redis, disk },
      {
        ORDER_STORE: disk === null ? 'memory' : `${disk.folder}/orders.db`,
        RATE_LIMIT_PER_MINUTE: '1000000',
        LOGIN_LIMIT_PER_MINUTE: '1000',
        ...(redis && { REDIS_URL: redis.url }),
        ...environment,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
      },
    );
    const resources = stage.#resources;
    if (redis) resources.use(redis);
    resources.defer(() => stage.#sandbox.close());
    resources.defer(() => stage.stopFacade());
    try {
      await stage.startFacade();
      const target = `127.0.0.1:${adminPort}`;
      stage.#prometheus = resources.use(
        await startPrometheus(prometheusPath, { target, hastenedBy }),
      );
      const url = `http://127.0.0.1:${port}`;
      const signIn = (user: number) => stage.#sandbox.token({ email: `user-${user}@example.com` });
      resources.use(startTraffic({ ...options, url, signIn }));
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

  get facade(): FacadeProcess | null {
    return this.#facade;
  }

  /** The text of every line of the log. */
  get logged(): readonly string[] {
    return [...this.#former, ...(this.#facade?.logged ?? [])];
  }

  /** At the same address as before. */
  async restartGateway(options: SandboxOptions = {}): Promise<void> {
    await this.#sandbox.close();
    this.#sandbox = await startGateway({ ...options, port: this.#sandbox.port });
  }

  async startFacade(environment: Environment = {}): Promise<void> {
    this.#facade = await startFacadeProcess({ ...this.#environment, ...environment });
  }

  async stopFacade(): Promise<void> {
    const facade = this.#facade;
    if (facade === null) return;
    await facade.kill();
    this.#former.push(...facade.logged);
    this.#facade = null;
  }

  /** The reasons of `degraded` that readiness gives; null where nothing answers. */
  async degradedReasons(): Promise<readonly string[] | null> {
    try {
      const answer = await fetch(`${this.adminUrl}/health/ready`);
      const { reasons = [] } = (await answer.json()) as { reasons?: readonly string[] };
      return reasons;
    } catch {
      return null;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#resources.disposeAsync();
  }
}

function startGateway(options: SandboxOptions = {}): Promise<Sandbox> {
  return startSandbox({ seed: 'night', instruments: 20, tickMs: 500, ...options });
}
