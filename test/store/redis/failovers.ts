import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { newKey } from '../../support/order-keys.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request } from '../order-records-contract.ts';
import { DURABLE, MARKER, openReadyReplica, openReplica } from './replica.ts';

/** The URL of a Redis behind this connection, which a test can cut or slow down. */
export const urlThrough = ({ address }: { readonly address: string }) =>
  `redis://:${REDIS_PASSWORD}@${address}`;

const PRIMARY = [...DURABLE.args, '--repl-diskless-sync-delay', '0'];

/** A replica of Redis. Its connection to the primary can be cut or slowed down. */
export async function startCopy(serverPath: string, primary: TestRedis) {
  await using started = new AsyncDisposableStack();
  const line = started.use(await startSwitchboard(primary.url));
  const args = [...PRIMARY, '--replicaof', line.address.replace(':', ' ')];
  const redis = started.use(await startTestRedis(serverPath, { args }));
  await eventually(async () =>
    expect(await redis.command('INFO', 'replication')).toContain('master_link_status:up'),
  );
  const owned = started.move();
  return { redis, line, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** A primary with replicas, each with a replication lag. */
export async function startCopiedRedis(serverPath: string, lagsMs: readonly number[]) {
  await using started = new AsyncDisposableStack();
  const primary = started.use(await startTestRedis(serverPath, { args: PRIMARY }));
  const copies = await Promise.all(
    lagsMs.map(async () => started.use(await startCopy(serverPath, primary))),
  );
  // A replica's link is up before its primary counts the replica, so this waits for the primary's count.
  await eventually(async () => {
    const replication = String(await primary.command('INFO', 'replication'));
    expect(replication.match(/state=online/g) ?? []).toHaveLength(lagsMs.length);
  });
  // The connection delays both directions, so each direction gets half of the lag.
  for (const [index, { line }] of copies.entries()) line.delayMs = (lagsMs[index] ?? 0) / 2;
  const owned = started.move();
  return { primary, copies, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface Failover {
  /** The replication lag of each replica of Redis. */
  readonly lagsMs: readonly number[];
  /** The promoted replica; `leading`: the replica with the most writes. */
  readonly promoted: number | 'leading';
  /** The setting REDIS_REPLICAS. By default it is the largest number of replicas that was seen. */
  readonly redisReplicas?: number;
}

type CopiedRedis = Awaited<ReturnType<typeof startCopiedRedis>>;

const BUYERS = 6;
const MAX_ORDERS = 5_000;
const NEW_ORDERS = 50;

/** Places orders until the primary and the process die together. A new process repeats them with a promoted replica. */
export async function failOver(serverPath: string, { lagsMs, promoted, ...setting }: Failover) {
  await using started = new AsyncDisposableStack();
  const redis = started.use(await startCopiedRedis(serverPath, lagsMs));
  const options = { requiresAppendonly: true, ...setting } as const;
  const { sent, refused } = await buyUntilDeath(redis, options);
  const replicas = redis.copies.map((copy) => copy.redis);
  const offsets = await Promise.all(replicas.map(offsetOf));
  const leading = offsets.indexOf(Math.max(...offsets));
  const next = replicas[promoted === 'leading' ? leading : promoted] as TestRedis;
  await next.command('REPLICAOF', 'NO', 'ONE');
  const promotedAtMs = performance.now();
  const { port } = new URL(next.url);
  for (const other of replicas.filter((each) => each !== next)) {
    await other.command('REPLICAOF', '127.0.0.1', port);
  }
  const { records } = started.use(await openReplica(next.url, options));
  // By default an order waits for as many replicas as were ever seen, so a new replica replaces the promoted one.
  if (setting.redisReplicas === undefined) {
    const args = [...PRIMARY, '--replicaof', `127.0.0.1 ${port}`];
    await eventually(() => records.status.degradedReason === null);
    started.use(await startTestRedis(serverPath, { args }));
  }
  const isAccepted = async (key: string) =>
    (await records.reserve({ ...request('1', ''), key }).catch(() => null))?.reserved === true;
  await eventually(async () => expect(await isAccepted(newKey())).toBe(true));
  const waitedMs = performance.now() - promotedAtMs;
  const twice: string[] = [];
  for (const key of sent) if (await isAccepted(key)) twice.push(key);
  let newOrders = 0;
  for (let n = 0; n < NEW_ORDERS; n += 1) if (await isAccepted(newKey())) newOrders += 1;
  const acceptedAfterwards = newOrders / NEW_ORDERS;
  return { sent: sent.length, refused, twice, waitedMs, acceptedAfterwards };
}

/** Several clients place orders with one process. At a random moment this process and the primary die. */
async function buyUntilDeath(
  { primary, copies }: CopiedRedis,
  options: Parameters<typeof openReadyReplica>[1],
) {
  await using line = await startSwitchboard(primary.url);
  await using service = await openReadyReplica(urlThrough(line), options);
  for (const copy of copies) await isMarked(copy.redis, copies.length);
  const sent: string[] = [];
  let refused = 0;
  let isDead = false;
  const order = async () => {
    const placed = { ...request('1', ''), key: newKey() };
    const answer = await service.records.reserve(placed).catch(() => null);
    if (isDead) return;
    if (!answer?.reserved) {
      refused += 1;
      return;
    }
    sent.push(placed.key);
    await service.records.settle(answer.reservation, accepted).catch(() => {});
  };
  const buy = async () => {
    for (let n = 0; !isDead && n < MAX_ORDERS; n += 1) await order();
  };
  const buyers = Array.from({ length: BUYERS }, buy);
  await eventually(() => sent.length >= 2 * BUYERS);
  await delay(Math.random() * 200);
  isDead = true;
  const killed = primary.kill();
  // The process reaches no Redis any more.
  line.to('redis://127.0.0.1:1');
  for (const connection of [line, ...copies.map((copy) => copy.line)]) connection.cut();
  await Promise.all([killed, ...buyers]);
  return { sent, refused };
}

/** How much of the primary's writes the replica has. */
async function offsetOf(replica: TestRedis): Promise<number> {
  const replication = String(await replica.command('INFO', 'replication'));
  return Number(/slave_repl_offset:(\d+)/.exec(replication)?.[1]);
}

/** Waits until the replica of Redis has a marker that knows of this many replicas. */
export async function isMarked(replica: TestRedis, replicas: number): Promise<void> {
  await eventually(async () => {
    expect(Number(await replica.command('HGET', MARKER, 'copies'))).toBe(replicas);
  });
}
