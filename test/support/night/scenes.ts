import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '../../../src/config.ts';
import type { CatalogChange } from '../../../src/sandbox/catalog.ts';
import type { TestRedis } from '../redis.ts';
import type { Needs, Stage } from './stage.ts';

/** A fault of the night, and all that has to tell of it. */
export interface Scene extends Needs {
  readonly title: string;
  /** The alerts that have to fire: the page, where there is one, and the tickets that name the cause. */
  readonly alerts: readonly string[];
  /** The lines that have to be logged, by a replica or by the load balancer, each by texts that it has. */
  readonly lines?: readonly (readonly string[])[];
  /** Of readiness, or where no replica is degraded what the lines name: `reasonsIn`. */
  readonly reasons?: readonly string[];
  /** How long its alert looks back: left out, some minutes at most. */
  readonly windowMs?: number;
  /** Begins it; the function that it resolves with ends it. */
  act(stage: Stage): Promise<() => unknown>;
}

const UNREACHABLE = ['TradingGraphGatewayUnreachable'];
const JWT_SECRET = 'the key that the service knows, for a night';
const RESTARTS = 4;
const UP_MS = 1_500;

/** A breaker opens, and says why. */
const opens = (cause: string) => [
  '"msg":"circuit breaker"',
  '"state":"open"',
  `"cause":"${cause}"`,
];

/** A fault of the sandbox gateway, until it is cleared. */
const failing = (fault: Parameters<Stage['gateway']['fail']>[0]) => ({
  async act({ gateway }: Stage) {
    gateway.fail(fault);
    return () => gateway.clearFaults();
  },
});

/** All replicas come up with another environment, and with their own again. */
const restartedWith = (environment: (stage: Stage) => Environment) => ({
  async act(stage: Stage) {
    await stage.restartAll(environment(stage));
    return () => stage.restartAll();
  },
});

/** Of 100 instruments, and a few that other groups have. */
const catalogChanged = (change: CatalogChange, back: CatalogChange) => ({
  alerts: ['TradingGraphCatalogWrong'],
  // As an hour: what the gateway changes is fetched within seconds.
  environment: { CATALOG_MAX_AGE_SECONDS: '10' },
  async act({ gateway }: Stage) {
    gateway.changeCatalog(change);
    return () => gateway.changeCatalog(back);
  },
});

const ofRedis = (begin: (redis: TestRedis) => unknown, end: (redis: TestRedis) => unknown) => ({
  alerts: ['TradingGraphStoreAway'],
  reasons: ['redis', 'order-store'],
  async act(stage: Stage) {
    const redis = stage.redis as TestRedis;
    await begin(redis);
    return () => end(redis);
  },
});

/** The list that a night draws from; a new kind of fault is a row of it. */
export const SCENES: readonly Scene[] = [
  {
    title: 'The gateway is down',
    alerts: UNREACHABLE,
    lines: [opens('ECONNREFUSED')],
    reasons: ['gateway'],
    async act(stage) {
      await stage.gateway.close();
      return () => stage.restartGateway();
    },
  },
  {
    title: 'The gateway answers 429 to everything',
    alerts: [...UNREACHABLE, 'TradingGraphGatewayFailing'],
    reasons: ['RATE_LIMITED'],
    ...failing({ operation: '*', kind: 'status', status: 429 }),
  },
  {
    title: 'One backend fails, the payments',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphBudgetBurn'],
    lines: [opens('5xx')],
    reasons: ['gateway'],
    ...failing({ operation: 'getCustomerId', kind: 'status', status: 503 }),
  },
  {
    title: 'One account fails, of many',
    alerts: ['TradingGraphPositionsOld'],
    // The traffic has this account place orders alone, which end unknown.
    ...failing({ operation: '*', kind: 'status', status: 500, login: 800_001 }),
  },
  {
    title: 'Orders are cut off after they were sent',
    alerts: ['TradingGraphOrderUnknown'],
    windowMs: 600_000,
    ...failing({ operation: 'openPosition', kind: 'reset-after', times: 3 }),
  },
  {
    title: 'The order operation hangs',
    alerts: ['TradingGraphOrders'],
    environment: { ORDER_TIMEOUT_MS: '2000' },
    ...failing({ operation: 'openPosition', kind: 'hang' }),
  },
  {
    title: 'The gateway hangs',
    alerts: UNREACHABLE,
    lines: [opens('timeout')],
    reasons: ['gateway'],
    ...failing({ operation: '*', kind: 'hang' }),
  },
  {
    title: 'The gateway answers with garbage',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphLiveDelayed'],
    reasons: ['GATEWAY_CONTRACT'],
    ...failing({ operation: 'getOpenPositions', kind: 'garbage' }),
  },
  {
    // Each call is refused, in words of the interface: no reason of readiness, and nobody's orders are sent.
    title: 'A wrong path in `GATEWAY_URL`',
    alerts: ['TradingGraphGatewayFailing', 'TradingGraphOrders'],
    ...restartedWith(({ gateway }) => ({ GATEWAY_URL: `${gateway.url}/elsewhere` })),
  },
  {
    title: 'The name of the gateway is gone from DNS',
    alerts: UNREACHABLE,
    reasons: ['GATEWAY_UNAVAILABLE'],
    ...restartedWith(({ gateway }) => ({
      GATEWAY_URL: `http://gateway.invalid:${gateway.port}`,
    })),
  },
  {
    title: 'One operation is slow: each of its calls takes 3 s',
    alerts: ['TradingGraphGatewaySlow'],
    ...failing({ operation: 'getCustomerId', kind: 'delay', delayMs: 3_000 }),
  },
  {
    title: 'The clock is two hours off the gateway’s',
    alerts: ['TradingGraphClockSkewed'],
    lines: [['"msg":"clock"', '"state":"wrong"']],
    reasons: ['clock'],
    ...failing({ operation: '*', kind: 'clock', shiftSeconds: 7_200 }),
  },
  {
    title: 'The certificate of the gateway is of an unknown CA',
    alerts: UNREACHABLE,
    reasons: ['GATEWAY_UNAVAILABLE'],
    ...restartedWith(({ tlsUrl }) => ({ GATEWAY_URL: tlsUrl })),
  },
  {
    title: 'The certificate of the gateway expires',
    needs: 'TLS',
    alerts: UNREACHABLE,
    lines: [opens('CERT_HAS_EXPIRED')],
    reasons: ['gateway'],
    async act({ present }) {
      present('expired');
      return () => present('valid');
    },
  },
  {
    title: 'The tokens are signed with another key than `JWT_SECRET`',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    environment: { JWT_SECRET },
    async act(stage) {
      await stage.restartGateway({ secret: 'the key that came after it, in the night' });
      return () => stage.restartGateway({ secret: JWT_SECRET });
    },
  },
  {
    title: 'One operation refuses all tokens, the positions',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    ...failing({ operation: 'getOpenPositions', kind: 'status', status: 401 }),
  },
  {
    title: 'Every operation refuses all tokens',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    ...failing({ operation: '*', kind: 'status', status: 401 }),
  },
  {
    title: 'A wrong name in `GATEWAY_LOGIN_CLAIM`',
    alerts: ['TradingGraphSignIn'],
    reasons: ['UNAUTHENTICATED'],
    ...restartedWith(() => ({ GATEWAY_LOGIN_CLAIM: 'trading_login' })),
  },
  {
    title: 'The catalog has lost a fifth of its instruments',
    ...catalogChanged({ remove: 25 }, { add: 25 }),
  },
  {
    title: 'Three rows in ten of the catalog are broken',
    lines: [['instruments were left out']],
    ...catalogChanged({ broken: 30 }, { broken: 0 }),
  },
  {
    title: 'The catalog has shrunk to a quarter',
    lines: [['a catalog with less than half of its instruments is kept out']],
    ...catalogChanged({ remove: 80 }, { add: 80 }),
  },
  {
    title: 'Redis is away',
    lines: [['Redis cannot be reached']],
    ...ofRedis(
      (redis) => redis.kill(),
      (redis) => redis.start(),
    ),
  },
  {
    title: 'Redis hangs',
    lines: [['Redis cannot be reached']],
    ...ofRedis(
      (redis) => redis.signal('SIGSTOP'),
      (redis) => redis.signal('SIGCONT'),
    ),
  },
  {
    title: 'Redis is full',
    lines: [['Redis refuses commands', '"reason":"OOM"']],
    ...ofRedis(
      (redis) => redis.command('CONFIG', 'SET', 'maxmemory', 1),
      (redis) => redis.command('CONFIG', 'SET', 'maxmemory', 0),
    ),
  },
  {
    title: 'Redis is read-only, a replica since a failover',
    lines: [['Redis refuses commands', '"reason":"READONLY"']],
    ...ofRedis(
      (redis) => redis.command('REPLICAOF', '127.0.0.1', 1),
      (redis) => redis.command('REPLICAOF', 'NO', 'ONE'),
    ),
  },
  {
    title: 'The disk of the order file is full',
    needs: 'small disk',
    alerts: ['TradingGraphStoreAway'],
    lines: [['orders.db cannot grow']],
    reasons: ['order-store'],
    async act({ disk }) {
      await disk?.fill();
      return () => disk?.free();
    },
  },
  {
    title: 'The front proxy is gone, and all traffic with it',
    alerts: ['TradingGraphFrontDoor'],
    async act({ balancer }) {
      await balancer.kill();
      return () => balancer.start();
    },
  },
  {
    title: 'All replicas are gone',
    alerts: ['TradingGraphFrontDoor', 'TradingGraphReplicas'],
    lines: [['has no server available']],
    reasons: ['no answer'],
    async act({ replicas, restartAll }) {
      await Promise.all(replicas.map((replica) => replica.kill()));
      return () => restartAll();
    },
  },
  {
    title: 'One replica is killed',
    alerts: ['TradingGraphReplicas'],
    lines: [['is DOWN']],
    reasons: ['no answer'],
    async act(stage) {
      const replica = stage.drawReplica();
      await replica.kill();
      return () => replica.start();
    },
  },
  {
    title: 'A replica restarts again and again',
    alerts: ['TradingGraphReplicas'],
    lines: [['is DOWN'], ['"msg":"serving"']],
    reasons: ['no answer'],
    async act(stage) {
      const replica = stage.drawReplica();
      for (let restart = 0; restart < RESTARTS; restart += 1) {
        await replica.kill();
        await replica.start();
        // Long enough to be scraped, or Prometheus would not see that it lived.
        await delay(UP_MS);
      }
      await replica.kill();
      return () => replica.start();
    },
  },
  {
    title: 'Two builds run at once',
    alerts: ['TradingGraphReplicas'],
    // A roll-out takes some time.
    windowMs: 1_800_000,
    lines: [['"msg":"serving"', '"revision":"of-tonight"']],
    reasons: ['two revisions'],
    async act(stage) {
      const replica = stage.drawReplica();
      await replica.kill();
      await replica.start({ REVISION: 'of-tonight' });
      return async () => {
        await replica.kill();
        await replica.start();
      };
    },
  },
];
