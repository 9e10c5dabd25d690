import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../../src/config.ts';
import { createRandom, pick } from '../../../src/sandbox/random.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/start.ts';
import { makeSignedCertificates } from '../certificate.ts';
import { startTestRedis } from '../redis.ts';
import { startReplicas } from '../replicas.ts';
import { startTlsFront } from '../tls-front.ts';
import { startAlertmanager, startPrometheus } from './monitoring.ts';
import { mountSmallDisk } from './small-disk.ts';
import { startTraffic, type Traffic } from './traffic.ts';

/** The part of its stage that a fault needs. */
export interface Needs {
  readonly environment?: Environment;
  readonly needs?: 'small disk' | 'TLS';
}

export interface StageOptions extends Traffic {
  readonly prometheusPath: string;
  readonly alertmanagerPath: string;
  readonly haproxyPath: string;
  readonly redisServerPath: string;
  /** Decides which replica a fault hits. */
  readonly seed: string;
  readonly hastenedBy: number;
}

/** By haproxy, that a replica is back. */
const NOTICED_MS = 1_500;

export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Replicas behind haproxy, their gateway, a Redis or a disk, a Prometheus, and traffic that goes on. */
export async function openStage({ needs, environment = {} }: Needs, options: StageOptions) {
  const { hastenedBy } = options;
  await using started = new AsyncDisposableStack();
  const disk = needs === 'small disk' ? started.use(await mountSmallDisk()) : null;
  const redis = disk === null ? started.use(await startTestRedis(options.redisServerPath)) : null;
  let gateway = await startGateway({ secret: environment.JWT_SECRET });
  started.defer(() => gateway.close());
  const certificates = started.use(await makeSignedCertificates());
  const tls = started.use(await startTlsFront(certificates.valid, gateway.port));
  const tlsUrl = `https://127.0.0.1:${tls.port}`;
  const replicas = started.use(
    await startReplicas(options.haproxyPath, {
      GATEWAY_URL: gateway.url,
      RATE_LIMIT_PER_MINUTE: '1000000',
      LOGIN_LIMIT_PER_MINUTE: '1000',
      // At real times the default holds, not the patience of tests: what hangs is told by its deadline.
      ...(hastenedBy === 1 && { GATEWAY_TIMEOUT_MS: '5000' }),
      ...(disk && { ORDER_STORE: `${disk.folder}/orders.db` }),
      ...(redis && { REDIS_URL: redis.url }),
      ...(needs === 'TLS' && {
        GATEWAY_URL: tlsUrl,
        NODE_EXTRA_CA_CERTS: certificates.authority,
      }),
      ...environment,
    }),
  );
  const { url, all, balancer } = replicas;
  const alertmanager = started.use(await startAlertmanager(options.alertmanagerPath, hastenedBy));
  const prometheus = started.use(
    await startPrometheus(
      options.prometheusPath,
      {
        targets: all.map(({ adminUrl }) => new URL(adminUrl).host),
        front: url,
        alertmanager: alertmanager.url,
      },
      hastenedBy,
    ),
  );
  const traffic = started.use(startTraffic(url, options, (email) => gateway.token({ email })));
  const random = createRandom(options.seed);
  const owned = started.move();
  return {
    disk,
    redis,
    traffic,
    tlsUrl,
    prometheus,
    alertmanager,
    balancer,
    replicas: all,
    get gateway(): Sandbox {
      return gateway;
    },
    /** The replica that a fault of one alone hits. */
    drawReplica: () => pick(random, all),
    /** At the same address as before. */
    async restartGateway(changed: SandboxOptions = {}): Promise<void> {
      await gateway.close();
      gateway = await startGateway({ ...changed, port: gateway.port });
    },
    /** One after the other, as in a roll-out: the front door stays open. */
    async restartAll(changed: Environment = {}): Promise<void> {
      for (const replica of all) {
        await replica.kill();
        await replica.start(changed);
        await delay(NOTICED_MS);
      }
    },
    /** The gateway's certificate from now on; the connections that were made with the other are ended. */
    present(which: 'valid' | 'expired'): void {
      tls.present(certificates[which]);
      tls.disconnect();
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
