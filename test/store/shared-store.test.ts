import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createKnownKeys } from '../../lib/limits/known-keys.ts';
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

/** Whether what it keeps outlives its process, and whether replicas share it. */
interface Kind {
  readonly isKept: boolean;
  readonly isShared: boolean;
}

/** The contract of every store, of which `open` opens one more process's view where there can be one; else the same. */
function itIsASharedStore(
  { isKept, isShared }: Kind,
  begin: () => Promise<AsyncDisposable & { open(): Promise<SharedStore> }>,
): void {
  test('a store has what its kind promises, and null in place of all else', async () => {
    await using place = await begin();
    const store = await place.open();
    const { keys, replicas } = store;
    expect({ keys: keys !== null, replicas: replicas !== null }).toEqual({
      keys: isKept,
      replicas: isShared,
    });
    await store.close();
  });

  test('what one process has put, the next one finds', async () => {
    await using place = await begin();
    const first = await place.open();
    const known = (store: SharedStore, kind = 'token') =>
      createKnownKeys(systemClock, HOUR_MS, store.keys?.(kind));
    const keys = known(first);
    for (const key of ['kept', 'erased']) keys.add(key);
    keys.delete('erased');
    await first.records.settle(await reserved(first.records, '1', 'k'), accepted);
    await first.close();
    const next = await place.open();
    expect(await next.records.find(one, 'k')).toMatchObject({ outcome: accepted });
    expect(await next.records.reserve(request('1', 'k'))).toMatchObject({ reserved: false });
    const { keys: ofStore, replicas } = next;
    if (ofStore !== null) {
      const again = known(next);
      await eventually(async () => expect(await again.has('kept')).toBe(true));
      expect([await again.has('erased'), await known(next, 'pair').has('kept')]).toEqual([
        false,
        false,
      ]);
    }
    if (replicas !== null) {
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
  itIsASharedStore({ isKept: false, isShared: false }, async () => {
    const store = await openStores({ ...OWN, orderStore: 'memory', requiresAppendonly: false });
    return {
      open: async () => ({ ...store, async close() {} }),
      [Symbol.asyncDispose]: () => store.close(),
    };
  });
});

describe('the store in files', () => {
  itIsASharedStore({ isKept: true, isShared: false }, async () => ({
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
  itIsASharedStore({ isKept: true, isShared: true }, async () => {
    const redis = await startTestRedis(serverPath);
    return {
      open: () => openOnRedis(redis.url),
      [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
    };
  });
});
