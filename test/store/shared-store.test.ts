import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { KnownKeys } from '../../src/lib/limits/known-keys.ts';
import { openStores } from '../../src/store/open-stores.ts';
import type { SharedStore } from '../../src/store/shared-store.ts';
import { accountNamed } from '../support/accounts.ts';
import { describeWithRedis } from '../support/describe-with.ts';
import { eventually } from '../support/eventually.ts';
import { ownFolder } from '../support/own-folder.ts';
import { startTestRedis } from '../support/redis.ts';
import { accepted, request, reserved } from './order-records-contract.ts';
import { openOnRedis } from './stores-on-redis.ts';

const HOUR_MS = 3_600_000;
const folder = ownFolder();
const one = accountNamed('1');

/** Whether replicas share it. */
interface Kind {
  readonly isShared: boolean;
}

/** The contract of every store, of which `open` opens one more process's view where there can be one; else the same. */
function itIsASharedStore(
  { isShared }: Kind,
  begin: () => Promise<AsyncDisposable & { open(): Promise<SharedStore> }>,
): void {
  test('a store has what its kind promises, and null in place of all else', async () => {
    await using place = await begin();
    const store = await place.open();
    expect(store.replicas !== null).toBe(isShared);
    await store.close();
  });

  test('what one process has put, the next one finds', async () => {
    await using place = await begin();
    const first = await place.open();
    const known = (store: SharedStore) =>
      new KnownKeys(systemClock, HOUR_MS, store.replicas?.knownTokens);
    const keys = known(first);
    for (const key of ['kept', 'erased']) keys.add(key);
    keys.delete('erased');
    await first.records.settle(await reserved(first.records, '1', 'k'), accepted);
    await first.close();
    const next = await place.open();
    expect(await next.records.find(one, 'k')).toMatchObject({ outcome: accepted });
    expect(await next.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    const { replicas } = next;
    if (replicas !== null) {
      const again = known(next);
      await eventually(async () => expect(await again.has('kept')).toBe(true));
      expect(await again.has('erased')).toBe(false);
      expect((await replicas.accountVersions.read(one)).version).not.toBe(null);
      expect((await replicas.accountVersions.read(accountNamed('2'))).version).toBe(null);
    }
    await next.close();
  });

  test('replicas count together', async () => {
    await using place = await begin();
    const first = await place.open();
    if (first.replicas === null) return first.close();
    const other = await place.open();
    const bucket = (points: number) => [10, 10 / HOUR_MS, points];
    expect(await first.replicas.share(['a'], bucket(3))).toEqual([7]);
    const levels = await other.replicas?.share(['a', 'b'], [...bucket(2), ...bucket(1)]);
    expect(levels?.map(Math.round)).toEqual([5, 9]);
    expect([first.replicas.isUp(), first.replicas.degradedReason()]).toEqual([true, null]);
    await other.close();
    await first.close();
  });
}

const OWN = { redisUrl: null, max: 100, clock: systemClock, prefix: '', onWarn() {} } as const;

describe('the store in memory', () => {
  itIsASharedStore({ isShared: false }, async () => {
    const store = await openStores({ ...OWN, orderStore: 'memory', requiresAppendonly: false });
    return {
      open: async () => ({ ...store, async close() {} }),
      [Symbol.asyncDispose]: () => store.close(),
    };
  });
});

describe('the store in files', () => {
  itIsASharedStore({ isShared: false }, async () => ({
    open: () =>
      openStores({
        ...OWN,
        orderStore: join(folder.path, 'orders.db'),
        requiresAppendonly: false,
        makesFolder: true,
      }),
    async [Symbol.asyncDispose]() {},
  }));
});

describeWithRedis('the store in Redis', (serverPath) => {
  itIsASharedStore({ isShared: true }, async () => {
    const redis = await startTestRedis(serverPath);
    return {
      open: () => openOnRedis(redis.url),
      [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
    };
  });
});
