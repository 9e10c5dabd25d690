import { appendFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { openOrderTrail, type TrailStore, trailEntries } from '../../src/store/order-trail.ts';
import { connectOperator } from '../../src/store/redis/order-status.ts';
import { redisTrail } from '../../src/store/redis/trail.ts';
import { trailFiles } from '../../src/store/trail-file.ts';
import { accountNamed } from '../support/accounts.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { ownFolder } from '../support/own-folder.ts';
import { startTestRedis } from '../support/redis.ts';
import { createScriptedClock } from '../support/scripted-clock.ts';

const folder = ownFolder();
const DAY_MS = 86_400_000;
const one = accountNamed('1');

async function eventsOf(store: TrailStore, account: string, key?: string) {
  const events: string[] = [];
  for await (const entry of trailEntries(store, accountNamed(account), key)) {
    events.push(`${entry.key} ${entry.event}`);
  }
  return events;
}

/** Whatever the key, and in however many batches they were written. */
async function tellsEachOrder(store: TrailStore) {
  const trail = openOrderTrail(store, { clock: systemClock, onWarn() {} });
  const keys = ['a', 'a"', 'a\u2028b', 'a\nb', '🔑'.repeat(255), '{x}'];
  for (const event of ['asked', 'answered']) {
    for (const key of keys) trail.add({ account: one, key }, event, { orderId: key });
    trail.add({ account: accountNamed('11'), key: 'a' }, event, {});
  }
  const many = Array.from({ length: 2_500 }, (_, n) => `k${n}`);
  for (const key of many) trail.add({ account: accountNamed('2'), key }, 'asked', {});
  await trail.close();
  for (const key of keys) {
    expect(await eventsOf(store, '1', key)).toEqual([`${key} asked`, `${key} answered`]);
  }
  expect(await eventsOf(store, '1')).toHaveLength(2 * keys.length);
  expect(await eventsOf(store, '2')).toEqual(many.map((key) => `${key} asked`));
  expect(await eventsOf(store, '1', 'none')).toEqual([]);
}

/** The answers to the second and third append are lost, with a part of what the second was to write. */
async function tellsOnceWhatIsRepeated(store: TrailStore) {
  let calls = 0;
  const append = async (lines: readonly string[]) => {
    calls += 1;
    await store.append(calls === 2 ? lines.slice(0, 1) : lines);
    if (calls === 2 || calls === 3) throw new Error('no answer');
  };
  const clock = createScriptedClock();
  const trail = openOrderTrail({ ...store, append }, { clock, onWarn() {} });
  const events = ['asked', 'answered', 'asked', 'asked'];
  trail.add({ account: one, key: 'before' }, 'asked', {});
  for (const event of events) trail.add({ account: one, key: 'repeated' }, event, {});
  for (let tries = 0; tries < 3; tries += 1) {
    await eventually(() => expect(clock.pending).toBe(tries < 2 ? 1 : 0));
    // What comes meanwhile is no part of what is repeated.
    if (tries === 0) trail.add({ account: one, key: 'later' }, 'asked', {});
    await clock.advance(1_000);
  }
  await trail.close();
  expect(await eventsOf(store, '1', 'repeated')).toEqual(events.map((each) => `repeated ${each}`));
  expect(await eventsOf(store, '1', 'later')).toEqual(['later asked']);
}

describe('the trail in files', () => {
  const path = () => join(folder.path, 'orders.db');
  const trails = async () => (await readdir(folder.path)).sort();

  test('tells each order, and none of a line that was torn', async () => {
    const store = trailFiles(path(), 1);
    await tellsEachOrder(store);
    const [file = ''] = await trails();
    expect((await stat(join(folder.path, file))).mode & 0o777).toBe(0o600);
    await appendFile(join(folder.path, file), '{"account":"1","key":"a","at":"2026');
    expect(await eventsOf(store, '1', 'a')).toHaveLength(2);
    // Nor is what another process writes behind it.
    await trailFiles(path(), 1).append([JSON.stringify({ account: '1', key: 'a', event: 'next' })]);
    expect(await eventsOf(store, '1', 'a')).toHaveLength(3);
    await tellsOnceWhatIsRepeated(store);
  });

  test('keeps the days that are asked for, by a date that is sure, and no more bytes than it may', async () => {
    const dayOf = (ago: number) => new Date(Date.now() - ago * DAY_MS).toISOString().slice(0, 10);
    const fileOf = (ago: number) => `orders.db.trail-${dayOf(ago)}.jsonl`;
    const others = ['orders.db', 'other.db.trail-2020-01-01.jsonl', 'orders.db.trail-notes'];
    const old = [1, 2, 3, 9].map(fileOf);
    for (const file of [...others, ...old])
      await writeFile(join(folder.path, file), 'x'.repeat(99));
    const kept = (...files: string[]) => [...others, ...files].sort();
    // This machine's date may be wrong by days.
    await trailFiles(path(), 2).append(['{}']);
    await trailFiles(path(), 2, () => 2 * DAY_MS).append(['{}']);
    expect(await trails()).toEqual(kept(...old, fileOf(0)));
    await trailFiles(path(), 2, () => 0).append(['{}']);
    expect(await trails()).toEqual(kept(fileOf(0), fileOf(1), fileOf(2)));
    await trailFiles(path(), 9, () => 0, 150).append(['{}']);
    expect(await trails()).toEqual(kept(fileOf(0), fileOf(1)));
    const full = trailFiles(path(), 9, () => 0, 5);
    await expect(full.append(['{}'])).rejects.toThrow('has reached 5 bytes');
    expect(await trails()).toEqual(kept(fileOf(0)));
  });
});

describeWithRedis('the trail in Redis', (serverPath) => {
  test('tells each order, keeps no more bytes than it may, and none that is over', async () => {
    await using redis = await startTestRedis(serverPath);
    const of = { url: redis.url, prefix: 'trading-graph:', redisReplicas: 0, onWarn() {} };
    using operator = await connectOperator(of);
    const sizeOf = async () => Number(await redis.command('XLEN', operator.scripts.trail[0] ?? ''));
    await tellsOnceWhatIsRepeated(redisTrail(operator.scripts, 1));
    // What was there whole was not written once more.
    expect(await sizeOf()).toBe(1 + 1 + 4 + 1);
    await redis.command('FLUSHALL');
    await tellsEachOrder(redisTrail(operator.scripts, 1));
    const before = await sizeOf();
    const line = (n: number) => JSON.stringify({ account: '3', key: `k${n}`, event: 'asked' });
    const small = redisTrail(operator.scripts, 1, 20_000);
    // The oldest go, twice as many as come at the most.
    for (let n = 0; n < 400; n += 1) await small.append([line(n)]);
    expect(await sizeOf()).toBeLessThan(before);
    for (let n = 400; n < 800; n += 1) await small.append([line(n)]);
    expect(await sizeOf()).toBeLessThan(200);
    expect((await eventsOf(small, '3')).at(-1)).toBe('k799 asked');
    expect(await eventsOf(small, '1')).toEqual([]);
    // A tenth of what Redis may have.
    await redis.command('CONFIG', 'SET', 'maxmemory', 50_000_000);
    for (let n = 800; n < 850; n += 1) await redisTrail(operator.scripts, 1).append([line(n)]);
    expect(await sizeOf()).toBeGreaterThan(200);
    await redis.command('CONFIG', 'SET', 'maxmemory', 0);
    for (let n = 850; n < 910; n += 1) await redisTrail(operator.scripts, -1).append([line(n)]);
    expect(await sizeOf()).toBe(0);
  });
});

test('nobody waits for a trail that is away, which is tried for half a minute, and what is lost is counted', async () => {
  const clock = createScriptedClock();
  const warnings: string[] = [];
  const written: string[] = [];
  let lost = 0;
  let isAway = true;
  const store = {
    async append(lines: readonly string[]) {
      if (isAway) throw new Error('away');
      written.push(...lines);
    },
    scan: async function* () {},
  };
  const trail = openOrderTrail(store, {
    clock,
    onWarn: (message) => warnings.push(message),
    onTrailLost: (entries) => {
      lost += entries;
    },
  });
  const add = (event: string) => trail.add({ account: one, key: 'k' }, event, {});
  add('asked');
  await clock.advance(20_000);
  isAway = false;
  await clock.advance(1_000);
  expect(written).toEqual([expect.stringContaining('"event":"asked"')]);
  isAway = true;
  for (let n = 0; n < 5_010; n += 1) add(`${n}`);
  expect(lost).toBe(10);
  await clock.advance(31_000);
  // What was tried first.
  expect(lost).toBe(11);
  expect(warnings).toEqual(Array(2).fill('the trail of orders cannot be written: away'));
  isAway = false;
  await clock.advance(1_000);
  expect(written).toHaveLength(5_000);
  openOrderTrail(null, { clock, onWarn() {} }).add({ account: one, key: 'k' }, 'asked', {});
});

test('an account whose orders are never sent fills its share of the trail, and no other', async () => {
  const clock = createScriptedClock();
  const written: string[] = [];
  let lost = 0;
  const store = {
    append: async (lines: readonly string[]) => void written.push(...lines),
    scan: async function* () {},
  };
  const onTrailLost = (entries: number) => {
    lost += entries;
  };
  const trail = openOrderTrail(store, { clock, onWarn() {}, onTrailLost, maxPerAccount: 100 });
  const of = (account: string) =>
    written.filter((line) => line.startsWith(`{"account":"${account}"`));
  const add = async (account: string) => {
    trail.add({ account: accountNamed(account), key: 'k' }, 'asked', {});
    await trail.close();
  };
  for (let n = 0; n < 1_000; n += 1) await add('1');
  for (let n = 0; n < 250; n += 1) await add('2');
  expect([of('1').length, of('2').length, lost]).toEqual([300, 250, 700]);
  // Within a day it has its share again.
  await clock.advance(DAY_MS / 10);
  for (let n = 0; n < 100; n += 1) await add('1');
  expect(of('1')).toHaveLength(330);
});
