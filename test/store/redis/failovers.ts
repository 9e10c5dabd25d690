import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request, reserved } from '../order-records-contract.ts';
import { DURABLE, MARKER, openReadyReplica, openReplica } from './replica.ts';

export const atBoard = ({ address }: { readonly address: string }) =>
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
  // A replica's link is up before its primary counts it.
  await eventually(async () => {
    const replication = String(await primary.command('INFO', 'replication'));
    expect(replication.match(/state=online/g) ?? []).toHaveLength(lagsMs.length);
  });
  for (const [at, { line }] of copies.entries()) line.delayMs = (lagsMs[at] ?? 0) / 2;
  const owned = started.move();
  return { primary, copies, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface Failover {
  /** The replication lag of each replica of Redis. */
  readonly lagsMs: readonly number[];
  /** The promoted replica; `leading`: the replica with the most writes. */
  readonly promoted: number | 'leading';
  /** REDIS_REPLICAS; by default the most that were seen. */
  readonly redisReplicas?: number;
}

const BUYERS = 6;
const MAX_ORDERS = 5_000;
const NEW_ORDERS = 50;

/** Places orders until the primary and the process die together. A new process repeats them with a promoted replica. */
export async function failOver(serverPath: string, { lagsMs, promoted, ...setting }: Failover) {
  await using started = new AsyncDisposableStack();
  const redis = started.use(await startCopiedRedis(serverPath, lagsMs));
  const line = started.use(await startSwitchboard(redis.primary.url));
  const options = { requiresAppendonly: true, ...setting } as const;
  const ours = started.use(await openReadyReplica(atBoard(line), { ...options, graceMs: 2_000 }));
  const sent: string[] = [];
  let refused = 0;
  let isDead = false;
  const order = async (key: string) => {
    const answer = await ours.records.reserve(request('1', key)).catch(() => null);
    if (isDead) return;
    if (!answer?.reserved) {
      refused += 1;
      return;
    }
    sent.push(key);
    await ours.records.settle(answer.reservation, accepted).catch(() => {});
  };
  const buyer = async (name: number) => {
    for (let n = 0; !isDead && n < MAX_ORDERS; n += 1) await order(`${name}-${n}`);
  };
  for (const copy of redis.copies) await isMarked(copy.redis, lagsMs.length);
  const buyers = Array.from({ length: BUYERS }, (_, name) => buyer(name));
  await eventually(() => sent.length >= 2 * BUYERS);
  await delay(Math.random() * 200);
  isDead = true;
  const killed = redis.primary.kill();
  line.to('redis://127.0.0.1:1');
  line.cut();
  for (const { line: ofCopy } of redis.copies) ofCopy.cut();
  await Promise.all([killed, ...buyers]);
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
  const successor = started.use(await openReplica(next.url, options));
  const { records } = successor;
  // By default an order waits for as many replicas as were ever seen, so a new one replaces the promoted one.
  if (setting.redisReplicas === undefined) {
    const args = [...PRIMARY, '--replicaof', `127.0.0.1 ${port}`];
    await eventually(() => records.status.degradedReason === null);
    started.use(await startTestRedis(serverPath, { args }));
  }
  await eventually(() => reserved(records, '1', 'the first afterwards'));
  const waitedMs = performance.now() - promotedAtMs;
  const twice: string[] = [];
  for (const key of sent) {
    const again = await records.reserve(request('1', key)).catch(() => null);
    if (again?.reserved) twice.push(key);
  }
  let taken = 0;
  for (let n = 0; n < NEW_ORDERS; n += 1) {
    const answer = await records.reserve(request('1', `afterwards ${n}`)).catch(() => null);
    if (answer?.reserved) taken += 1;
  }
  return { sent: sent.length, refused, twice, waitedMs, takenAfterwards: taken / NEW_ORDERS };
}

async function offsetOf(replica: TestRedis): Promise<number> {
  const [, offset] =
    /slave_repl_offset:(\d+)/.exec(String(await replica.command('INFO', 'replication'))) ?? [];
  return Number(offset);
}

/** Waits until the replica has run for three seconds, and has received the marker again, with this `reach`. */
export async function isMarked(replica: TestRedis, reach: number): Promise<void> {
  const of = async (field: string) => Number(await replica.command('HGET', MARKER, field));
  await eventually(async () => {
    const uptime = /uptime_in_seconds:(\d+)/.exec(String(await replica.command('INFO', 'server')));
    return Number(uptime?.[1]) >= 3 && (await of('reach')) === reach;
  });
  const at = await of('at');
  await eventually(async () => (await of('at')) > at);
}
