import { readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createCatalogFiles } from '../../src/store/catalog-files.ts';
import type { CopyStore } from '../../src/store/shared-store.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { ownFolder } from '../support/own-folder.ts';
import { startTestRedis } from '../support/redis.ts';
import { openOnRedis } from './stores-on-redis.ts';

const HOUR_MS = 3_600_000;
const folder = ownFolder();

/** Puts copies of so many bytes one after the other, each older in the store's eyes than the next, and returns which are there. */
async function putInTurn(
  store: CopyStore,
  sizes: readonly number[],
  age: (key: string, turn: number) => Promise<unknown>,
): Promise<readonly number[]> {
  for (const [turn, size] of sizes.entries()) {
    await store.put(`key${turn}`, Buffer.alloc(size, turn), HOUR_MS);
    await age(`key${turn}`, turn);
  }
  const there = await Promise.all(sizes.map((_size, turn) => store.has(`key${turn}`)));
  return sizes.map((_size, turn) => turn).filter((turn) => there[turn]);
}

async function keepsNewest(store: CopyStore, age: (key: string, turn: number) => Promise<unknown>) {
  await store.put('one', Buffer.alloc(1), HOUR_MS);
  await age('one', -1);
  const most = store.maxBytes;
  // Four of the largest fill it, and what is newest stays whatever its size.
  expect(await putInTurn(store, [most, most, most, most, 1], age)).toEqual([1, 2, 3, 4]);
  expect(await store.has('one')).toBe(false);
  expect((await putInTurn(store, Array(110).fill(1), age)).length).toBe(100);
}

test('the folder of catalogs keeps the newest, 100 of them and 64 MB at most, and nothing half written', async () => {
  const path = join(folder.path, 'catalogs');
  const store = createCatalogFiles(path, systemClock);
  const began = Date.now() - HOUR_MS;
  await keepsNewest(store, async (key, turn) => {
    const at = new Date(began + turn * 1_000);
    await utimes(join(path, `${key}.catalog`), at, at);
  });
  const left = join(path, 'key1.catalog.12345');
  await writeFile(left, 'half');
  await utimes(left, new Date(began), new Date(began));
  await writeFile(join(path, 'notes.txt'), 'of somebody else');
  await store.put('last', Buffer.alloc(1), HOUR_MS);
  const names = await readdir(path);
  expect(names).toHaveLength(101);
  expect(names).toContain('notes.txt');
  expect(names.filter((name) => name.includes('12345'))).toEqual([]);
});

describeWithRedis('catalogs in Redis', (serverPath) => {
  test('are the newest, 100 of them and 64 MB at most, each written by one', async () => {
    await using redis = await startTestRedis(serverPath);
    await using stores = await openOnRedis(redis.url);
    const { copies } = stores.catalogs;
    if (copies === null) throw new Error('Redis keeps copies');
    await keepsNewest(copies, (key, turn) =>
      redis.command(
        'ZADD',
        'trading-graph:packed-catalogs',
        turn + 1,
        `trading-graph:packed-catalog:${key}`,
      ),
    );
    expect([await copies.mayPut('a', 'x'), await copies.mayPut('a', 'x')]).toEqual([true, false]);
    expect([await copies.mayPut('b', 'x'), await copies.mayPut('a', 'y')]).toEqual([true, true]);
    // A replica that was slow does not put an older one in the place of a newer.
    await copies.put('late', Buffer.from('new'), HOUR_MS);
    await copies.put('late', Buffer.from('old'), HOUR_MS / 2);
    expect((await copies.get('late'))?.bytes.toString()).toBe('new');
    // As where the clock was set back by a minute: what is put now is the newest all the same.
    const turns = Array.from({ length: 100 }, (_, turn) => turn);
    for (const turn of turns) await copies.put(`key${turn}`, Buffer.alloc(1), HOUR_MS);
    const ahead = turns.flatMap((turn) => [4e9, `trading-graph:packed-catalog:key${turn}`]);
    await redis.command('ZADD', 'trading-graph:packed-catalogs', ...ahead);
    await copies.put('z', Buffer.alloc(1), HOUR_MS);
    expect([await copies.has('z'), await copies.has('key0')]).toEqual([true, false]);
    await stores.catalogs.versions?.put('version', 'text');
    const lives = Number(await redis.command('TTL', 'trading-graph:catalog:version'));
    expect(lives).toBeGreaterThan(86_000);
  });
});
