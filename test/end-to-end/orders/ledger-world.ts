import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startSandbox } from '../../../sandbox/start.ts';
import type { Environment } from '../../../src/config.ts';
import { atBoard, startCopy } from '../../store/redis/failovers.ts';
import { DURABLE } from '../../store/redis/replica.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { temporaryFolder } from '../../support/own-folder.ts';
import { readinessOf } from '../../support/readiness.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { LATE_MS, MAX_ANSWER_BYTES, ORDER_TIMEOUT_MS } from './fault-injector.ts';
import {
  type Disruption,
  type LedgerReport,
  type LedgerRunOptions,
  runLedger,
} from './ledger-run.ts';

export interface Rehearsal extends Pick<LedgerRunOptions, 'seed' | 'steps' | 'isVaried'> {
  /** How often each kind of disruption occurs. */
  readonly rounds?: number;
}

const FREEZE_MS = 4_000;
/** How late a replica of Redis is. */
const LAG_MS = 200;

/** Two facades that share a file of order records, killed and restarted in turn. */
export async function rehearseWithSqlite(rehearsal: Rehearsal): Promise<LedgerReport> {
  await using folder = await temporaryFolder();
  const store = { ORDER_STORE: join(folder.path, 'orders.db') };
  return await rehearse(rehearsal, store, ([one, other]) => [
    (bring) => bring(one, 'SIGKILL'),
    (bring) => bring(other, 'SIGTERM'),
    (bring) => bring(other, 'SIGKILL'),
    async (bring) => void (await Promise.all([bring(one, 'SIGKILL'), bring(other, 'SIGKILL')])),
  ]);
}

/** Two replicas, killed in turn, that share a Redis which is killed as well. */
export async function rehearseWithRedis(redisServerPath: string, rehearsal: Rehearsal) {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
  await using redis = await startTestRedis(redisServerPath, { args });
  return await rehearse(rehearsal, { REDIS_URL: redis.url }, ([one, other]) => [
    // Redis comes first: with a replica that has just died, its recovery takes about ten seconds.
    () => restart(redis, [one, other]),
    (bring) => bring(one, 'SIGKILL'),
    (bring) => bring(other, 'SIGTERM'),
    (bring) => bring(other, 'SIGKILL'),
  ]);
}

/** Two replicas that are frozen at times, and a Redis that restarts empty. */
export async function rehearseWithForgetfulRedis(redisServerPath: string, rehearsal: Rehearsal) {
  await using redis = await startTestRedis(redisServerPath);
  const disruptions: Disruptions = ([one, other]) => [
    () => restart(redis),
    () => freeze(one),
    () => restart(redis),
    () => freeze(other),
  ];
  return await rehearse(rehearsal, { REDIS_URL: redis.url }, disruptions, { mayForget: true });
}

/** Three replicas, and a Redis that has each failure of docs/order-records.md in turn. */
export async function rehearseWithFailingRedis(redisServerPath: string, rehearsal: Rehearsal) {
  await using started = new AsyncDisposableStack();
  const start = async (more: readonly string[] = []) => {
    const args = ['--repl-diskless-sync-delay', '0', ...more];
    return started.use(await startTestRedis(redisServerPath, { args }));
  };
  let redis = await start();
  const address = started.use(await startSwitchboard(redis.url));
  const store = { REDIS_URL: `redis://:${REDIS_PASSWORD}@${address.address}` };
  const disruptions: Disruptions = (facades) => [
    // Stopped, and back with what it had a second before.
    async () => {
      await redis.command('SAVE');
      await delay(1_000);
      await restart(redis);
      // One that was promoted in an earlier round would start as a replica again.
      await redis.command('REPLICAOF', 'NO', 'ONE');
      await allTakeOrders(facades);
    },
    async () => {
      redis.signal('SIGSTOP');
      await delay(FREEZE_MS / 2);
      redis.signal('SIGCONT');
      await allTakeOrders(facades);
    },
    async () => {
      address.delayMs = 100;
      await delay(FREEZE_MS);
      address.delayMs = 0;
    },
    async () => {
      await redis.command('FLUSHALL');
      await allTakeOrders(facades);
    },
    async () => {
      const replica = await start(['--replicaof', `127.0.0.1 ${new URL(redis.url).port}`]);
      await eventually(async () => Number(await replica.command('DBSIZE')) > 0);
      await replica.command('REPLICAOF', 'NO', 'ONE');
      await delay(500);
      await redis.kill();
      address.to(replica.url);
      redis = replica;
      await allTakeOrders(facades);
    },
  ];
  return await rehearse(rehearsal, store, disruptions, { mayForget: true, replicas: 3 });
}

/** Two replicas, and a Redis whose primary dies together with one of them; its own replica, which lags, is promoted. */
export async function rehearseWithPromotions(redisServerPath: string, rehearsal: Rehearsal) {
  await using started = new AsyncDisposableStack();
  const follow = async (primary: TestRedis) => {
    const copy = started.use(await startCopy(redisServerPath, primary));
    copy.line.delayMs = LAG_MS / 2;
    return copy;
  };
  let primary = started.use(await startTestRedis(redisServerPath, DURABLE));
  let copy = await follow(primary);
  const address = started.use(await startSwitchboard(primary.url));
  const store = { REDIS_URL: atBoard(address) };
  return await rehearse(rehearsal, store, (facades) =>
    facades.map((dying) => async (bring) => {
      copy.line.cut();
      address.cut();
      const died = bring(dying, 'SIGKILL');
      await primary.kill();
      primary = copy.redis;
      await primary.command('REPLICAOF', 'NO', 'ONE');
      copy = await follow(primary);
      address.to(primary.url);
      await died;
      await allTakeOrders(facades);
    }),
  );
}

type Disruptions = (
  facades: readonly [FacadeProcess, FacadeProcess, ...FacadeProcess[]],
) => readonly Disruption[];

/** Replicas with this store; a line of level error is a fault of theirs, unless it reports an unavailable store. */
async function rehearse(
  { rounds = 1, ...rehearsal }: Rehearsal,
  store: Environment,
  disruptions: Disruptions,
  { replicas = 2, mayForget = false } = {},
): Promise<LedgerReport> {
  await using started = new AsyncDisposableStack();
  const gateway = { seed: 'ledger', instruments: 40, tickMs: 0, slowMs: LATE_MS };
  const sandbox = started.use(await startSandbox(gateway));
  const environment = {
    GATEWAY_URL: sandbox.url,
    ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS),
    GATEWAY_MAX_BYTES: String(MAX_ANSWER_BYTES),
    GATEWAY_CONNECTIONS: '256',
    RATE_LIMIT_PER_MINUTE: '10000000',
    ...store,
  };
  const start = async () => started.use(await startFacadeProcess(environment));
  const facades = await Promise.all([
    ...([start(), start()] as const),
    ...Array.from({ length: replicas - 2 }, start),
  ]);
  const report = await runLedger({
    ...rehearsal,
    sandbox,
    facades,
    mayForget,
    disruptions: Array.from({ length: rounds }, () => disruptions(facades)).flat(),
  });
  const faults = facades
    .flatMap(({ logged }) => logged)
    .filter((line) => line.includes('"level":"error"') && !line.includes('trying again'));
  return {
    ...report,
    contradictions: [...report.contradictions, ...faults.map((line) => `logged: ${line}`)],
  };
}

/**
 * Waits until the replicas have written the outcomes of the outage back to Redis. Until then each is the
 * only one to know them: a replica that dies as well leaves those outcomes unknown.
 */
async function restart(redis: TestRedis, writers: readonly FacadeProcess[] = []): Promise<void> {
  await redis.kill();
  await redis.start();
  await allTakeOrders(writers);
}

async function allTakeOrders(facades: readonly FacadeProcess[]): Promise<void> {
  const takesOrders = async ({ url }: FacadeProcess) =>
    !(await readinessOf(url)).reasons?.includes('order-store');
  await Promise.all(facades.map((facade) => eventually(() => takesOrders(facade))));
}

/** Long enough for the others to consider its orders lost. */
async function freeze(facade: FacadeProcess): Promise<void> {
  facade.signal('SIGSTOP');
  await delay(FREEZE_MS);
  facade.signal('SIGCONT');
}
