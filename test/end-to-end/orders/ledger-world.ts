import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../sandbox/start.ts';
import { eventually } from '../../support/eventually.ts';
import { type FacadeProcess, startFacadeProcess } from '../../support/facade-process.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { LARGEST_ANSWER_BYTES, LATE_MS, ORDER_TIMEOUT_MS } from './fault-injector.ts';
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
const REPLICAS = 3;

/** Two facades that share a file of order records, killed and restarted in turn. */
export async function rehearseWithSqlite({ rounds = 1, ...rehearsal }: Rehearsal) {
  const folder = await mkdtemp(join(tmpdir(), 'trading-graph-ledger-'));
  await using sandbox = await startLedgerSandbox();
  const start = () =>
    startFacadeProcess({ ...environment(sandbox), ORDER_STORE: join(folder, 'orders.db') });
  const [first, second] = await Promise.all([start(), start()]);
  await using one = first;
  await using other = second;
  const report = await runLedger({
    ...rehearsal,
    sandbox,
    facades: [one, other],
    disruptions: repeated(rounds, [
      (bring) => bring(one, 'SIGKILL'),
      (bring) => bring(other, 'SIGTERM'),
      (bring) => bring(other, 'SIGKILL'),
      async (bring) => void (await Promise.all([bring(one, 'SIGKILL'), bring(other, 'SIGKILL')])),
    ]),
  });
  await rm(folder, { recursive: true });
  return withFaults(report, [...one.logged, ...other.logged]);
}

/** Two replicas, killed in turn, that share a Redis which is killed as well. */
export function rehearseWithRedis(redisServerPath: string, rehearsal: Rehearsal) {
  const args = ['--appendonly', 'yes', '--appendfsync', 'always'];
  return rehearseReplicas(redisServerPath, args, rehearsal, (one, other, redis) => [
    // Redis comes first: with a replica that has just died, its recovery takes about ten seconds.
    () => restart(redis, [one, other]),
    (bring) => bring(one, 'SIGKILL'),
    (bring) => bring(other, 'SIGTERM'),
    (bring) => bring(other, 'SIGKILL'),
  ]);
}

/** Two replicas that are frozen at times, and a Redis that restarts empty. */
export function rehearseWithForgetfulRedis(redisServerPath: string, rehearsal: Rehearsal) {
  return rehearseReplicas(redisServerPath, [], rehearsal, (one, other, redis) => [
    () => restart(redis),
    () => freeze(one),
    () => restart(redis),
    () => freeze(other),
  ]);
}

/** Three replicas, and a Redis that has each failure of docs/order-records.md in turn. */
export async function rehearseWithFailingRedis(
  redisServerPath: string,
  { rounds = 1, ...rehearsal }: Rehearsal,
) {
  await using started = new AsyncDisposableStack();
  const sandbox = started.use(await startLedgerSandbox());
  const start = async (args: readonly string[] = []) =>
    started.use(
      await startTestRedis(redisServerPath, {
        args: ['--repl-diskless-sync-delay', '0', ...args],
      }),
    );
  let redis = await start();
  const address = started.use(await startSwitchboard(redis.url));
  const facades = await Promise.all(
    Array.from({ length: REPLICAS }, async () =>
      started.use(
        await startFacadeProcess({
          ...environment(sandbox),
          REDIS_URL: `redis://:${REDIS_PASSWORD}@${address.address}`,
        }),
      ),
    ),
  );
  const disruptions: (() => Promise<void>)[] = [
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
  const report = await runLedger({
    ...rehearsal,
    sandbox,
    facades,
    mayForget: true,
    disruptions: repeated(rounds, disruptions),
  });
  return withFaults(
    report,
    facades.flatMap(({ logged }) => logged),
  );
}

async function rehearseReplicas(
  redisServerPath: string,
  args: readonly string[],
  { rounds = 1, ...rehearsal }: Rehearsal,
  disruptions: (
    one: FacadeProcess,
    other: FacadeProcess,
    redis: TestRedis,
  ) => readonly Disruption[],
) {
  await using sandbox = await startLedgerSandbox();
  await using redis = await startTestRedis(redisServerPath, { args });
  const replica = () => startFacadeProcess({ ...environment(sandbox), REDIS_URL: redis.url });
  const [first, second] = await Promise.all([replica(), replica()]);
  await using one = first;
  await using other = second;
  const report = await runLedger({
    ...rehearsal,
    sandbox,
    facades: [one, other],
    mayForget: args.length === 0,
    disruptions: repeated(rounds, disruptions(one, other, redis)),
  });
  return withFaults(report, [...one.logged, ...other.logged]);
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
  await Promise.all(facades.map(({ url }) => eventually(() => takesOrders(url))));
}

async function takesOrders(url: string): Promise<boolean> {
  const readiness = await (await fetch(`${url}/health/ready`)).text();
  return !readiness.includes('order-store');
}

/** Long enough for the others to consider its orders lost. */
async function freeze(facade: FacadeProcess): Promise<void> {
  facade.signal('SIGSTOP');
  await delay(FREEZE_MS);
  facade.signal('SIGCONT');
}

function startLedgerSandbox(): Promise<Sandbox> {
  return startSandbox({ seed: 'ledger', instruments: 40, tickMs: 0, slowMs: LATE_MS });
}

function environment(sandbox: Sandbox) {
  return {
    GATEWAY_URL: sandbox.url,
    ORDER_TIMEOUT_MS: String(ORDER_TIMEOUT_MS),
    GATEWAY_MAX_BYTES: String(LARGEST_ANSWER_BYTES),
    GATEWAY_CONNECTIONS: '256',
    RATE_LIMIT_PER_MINUTE: '10000000',
  };
}

function repeated(rounds: number, disruptions: readonly Disruption[]): Disruption[] {
  return Array.from({ length: rounds }, () => disruptions).flat();
}

/** A line of level error is a fault of the facade's own, unless it reports an unavailable store. */
function withFaults(report: LedgerReport, logged: readonly string[]): LedgerReport {
  const faults = logged.filter(
    (line) => line.includes('"level":"error"') && !line.includes('trying again'),
  );
  return {
    ...report,
    contradictions: [...report.contradictions, ...faults.map((line) => `logged: ${line}`)],
  };
}
