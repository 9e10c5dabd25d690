import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { REDIS_PASSWORD, startTestRedis, type TestRedis } from '../../support/redis.ts';
import { startSwitchboard } from '../../support/switchboard.ts';
import { accepted, request } from '../order-records-contract.ts';
import { DURABLE, openReadyReplica } from './replica.ts';

export const atBoard = ({ address }: { readonly address: string }) =>
  `redis://:${REDIS_PASSWORD}@${address}`;

const PRIMARY = [...DURABLE.args, '--repl-diskless-sync-delay', '0'];

/** A replica of Redis, and the line to its primary, which can be cut and made slow. */
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

/** A primary with replicas of its own, each of which gets what is written so much later. */
export async function startCopiedRedis(serverPath: string, lagsMs: readonly number[]) {
  await using started = new AsyncDisposableStack();
  const primary = started.use(await startTestRedis(serverPath, { args: PRIMARY }));
  const copies = await Promise.all(
    lagsMs.map(async () => started.use(await startCopy(serverPath, primary))),
  );
  for (const [at, { line }] of copies.entries()) line.delayMs = (lagsMs[at] ?? 0) / 2;
  const owned = started.move();
  return { primary, copies, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

interface Failover {
  /** How late each replica of Redis gets what is written; the last one is promoted. */
  readonly lagsMs: readonly number[];
  /** As the setting has it; left out, the most that were seen. */
  readonly redisReplicas?: number;
}

const AT_ONCE = 6;
const MAX_ORDERS = 5_000;

/** Orders until the primary and our replica die together, and their repeats at another replica of ours once a lagging one of Redis is promoted. */
export async function failOver(serverPath: string, { lagsMs, ...setting }: Failover) {
  await using redis = await startCopiedRedis(serverPath, lagsMs);
  await using line = await startSwitchboard(redis.primary.url);
  const options = { durability: 'required', redisTimeoutMs: 3_000, ...setting } as const;
  await using ours = await openReadyReplica(atBoard(line), { ...options, graceMs: 2_000 });
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
  const buyers = Array.from({ length: AT_ONCE }, (_, name) => buyer(name));
  await eventually(() => sent.length >= 2 * AT_ONCE);
  await delay(Math.random() * 200);
  isDead = true;
  const killed = redis.primary.kill();
  line.to('redis://127.0.0.1:1');
  line.cut();
  for (const { line: ofCopy } of redis.copies) ofCopy.cut();
  await Promise.all([killed, ...buyers]);
  const promoted = redis.copies.at(-1)?.redis;
  await promoted?.command('REPLICAOF', 'NO', 'ONE');
  await using next = await openReadyReplica(promoted?.url ?? '', { ...options, redisReplicas: 0 });
  const twice: string[] = [];
  for (const key of sent) {
    const again = await next.records.reserve(request('1', key)).catch(() => null);
    if (again?.reserved) twice.push(key);
  }
  return { sent: sent.length, refused, twice };
}
