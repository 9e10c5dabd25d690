import { expect, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { CatalogCopy } from '../../src/catalog/catalog-copy.ts';
import { CatalogStorage } from '../../src/catalog/catalog-storage.ts';
import { entryKey, type Head, storageKey } from '../../src/catalog/stored-copy.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import type { ClientStorage } from '../../src/storage.ts';
import {
  CATALOG,
  changeCatalog,
  noNetwork,
  openPhone,
  storedCopy,
  untilServed,
} from '../support/catalog-phone.ts';
import { countedEnvironment } from '../support/counted-environment.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';

const OWNER = { login: '700001', group: 'standard-usd' };
const ENTRY_SIZE = 250;

const app = sharedApp({ SANDBOX_INSTRUMENTS: '1000' });

/** A storage of its own on the texts, as each start of the app makes one. */
const opened = (storage: ClientStorage) =>
  new CatalogStorage(storage, countedEnvironment(), ['id', 'symbol', 'name', 'description']);

function edition(version: string, size: number) {
  const description = `${version} `.repeat(280);
  return Array.from({ length: size }, (_none, at) => {
    const symbol = `S${String(at).padStart(5, '0')}`;
    return { id: symbol, symbol, name: `Name of ${symbol}`, description };
  });
}

type Rows = ReturnType<typeof edition>;
const copyOf = (version: string, rows: Rows) =>
  new CatalogCopy(version, [...rows], new Map(rows.map((row) => [row.id, row])));

/** Resolves when the copy is written, and rejects when it is not. */
async function save(storage: CatalogStorage, copy: ReturnType<typeof copyOf>): Promise<void> {
  await storage.save({ owner: OWNER, copy, ageSeconds: 0, atMs: 0 });
  expect(storage.error).toBeNull();
}

/** Fails where a new start of the app does not read this copy, whole. */
async function isRead(storage: ClientStorage, { version, all }: ReturnType<typeof copyOf>) {
  const read = await opened(storage).read(OWNER);
  expect(read?.copy).toMatchObject({ version, all, stale: [], isWhole: true });
}

/** A store of which the app has so many writes until it is killed, or it is full. */
function cutOff(kept: ClientStorage, writes: { left: number }): ClientStorage {
  return {
    ...kept,
    set: async (key, text) => {
      writes.left -= 1;
      if (writes.left < 0) throw new Error('killed');
      await kept.set(key, text);
    },
  };
}

test('only what changed is written, and after a write that was cut off the copy is shown offline, and what was not written is fetched, no more', async () => {
  await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '1000' });
  const kept = memoryStorage();
  const writes = { left: 100 };
  const storage = await storedCopy(own, { storage: cutOff(kept, writes) }, 5);
  expect(writes.left).toBe(95);
  {
    using phone = openPhone(own, { storage });
    await phone.catalog.load();
    await changeCatalog(own, { change: 1 });
    const { version } = await untilServed(own, phone.catalog.version ?? '');
    await phone.catalog.sync();
    await eventually(() => expect(writes.left).toBeLessThanOrEqual(93));
    using again = openPhone(own, { storage });
    await again.catalog.load();
    expect(again.versionsAsked()[0]).toBe(version);
    expect(writes.left).toBe(93);
  }
  for (let left = 0; left <= 4; left += 1) {
    {
      using phone = openPhone(own, { storage });
      await phone.catalog.load();
      await changeCatalog(own, { change: 40, add: 2, remove: 2 });
      await untilServed(own, phone.catalog.version ?? '');
      writes.left = left;
      await phone.catalog.sync();
      await eventually(() => expect(writes.left).toBeLessThan(0));
      writes.left = Number.POSITIVE_INFINITY;
    }
    {
      using offline = openPhone(own, { storage: kept, network: noNetwork });
      await offline.catalog.load({ account: OWNER.login });
      expect(offline.catalog.size).toBeGreaterThan(990);
    }
    const { entries }: Head = JSON.parse((await kept.get(storageKey(OWNER))) ?? '');
    using again = openPhone(own, { storage: kept });
    await again.catalog.load();
    await again.agrees();
    expect(again.versionsAsked()).not.toContain('');
    const asked = again.partsAsked().flat();
    // The first write is the head's; with none of it there is the former copy, and what changed comes as changes.
    const notReached = left === 0 ? [] : entries.slice(left - 1).flatMap(({ ids }) => ids);
    expect(notReached).toEqual(expect.arrayContaining(asked));
    expect(asked.length > 0).toBe(left > 0);
  }
});

test('an entry that cannot be read is fetched anew, before anything is shown, and nothing else', async () => {
  const storage = await storedCopy(app, {}, 5);
  for (const damage of ['cut off', 'gone', 'of no such ids']) {
    const key = entryKey(OWNER, 2);
    const text = (await storage.get(key)) ?? '';
    await storage.delete(key);
    if (damage === 'cut off') await storage.set(key, text.slice(0, -5));
    if (damage === 'of no such ids') await storage.set(key, text.replaceAll('"id":"', '"id":"no '));
    {
      using offline = openPhone(app, { storage, network: noNetwork });
      const loading = offline.catalog.load({ account: OWNER.login });
      await expect(loading).rejects.toMatchObject({ code: 'NETWORK' });
      expect(offline.catalog.size).toBe(0);
    }
    using phone = openPhone(app, { storage });
    await phone.catalog.load();
    await phone.agrees();
    expect(phone.partsAsked().flat()).toHaveLength(ENTRY_SIZE);
    expect(phone.sentNamed(CATALOG)).toEqual([]);
    await eventually(async () => expect(await storage.get(key)).toBe(text));
  }
});

test('an entry that was lost, and of which nothing is left in the next edition, harms no later start', async () => {
  const memory = memoryStorage();
  const rows = edition('v1', 2 * ENTRY_SIZE + 2);
  await save(opened(memory), copyOf('v1', rows));
  await memory.set(entryKey(OWNER, 2), 'rubbish');
  const again = opened(memory);
  const read = await again.read(OWNER);
  expect(read?.copy).toMatchObject({ isWhole: false, stale: ['S00500', 'S00501'] });
  const removed = ['S00500', 'S00501'];
  const after = { version: 'v2', reset: false, removed, upserted: [] };
  const copy = read?.copy.after(after) as ReturnType<typeof copyOf>;
  await save(again, copy);
  await isRead(memory, copy);
  expect(copy.all).toHaveLength(2 * ENTRY_SIZE);
});

test('two tabs that write different editions at once leave nothing that is taken for what it is not', async () => {
  const memory = createMemoryStorage();
  const rows = edition('v1', 3 * ENTRY_SIZE);
  const first = copyOf('v1', rows);
  await save(opened(memory), first);
  const changed = (version: string, from: number) => ({
    version,
    reset: false,
    removed: [`S00${from}`],
    upserted: [
      ...rows.slice(from + 1, from + 9).map((row) => ({ ...row, name: version })),
      { ...(rows[0] as Rows[number]), id: `new ${version}`, symbol: `N${version}` },
    ],
  });
  const second = first.after(changed('v2', 100));
  const third = second.after(changed('v3', 300));
  const editions = new Map([second, third].map((copy) => [copy.version, copy]));
  for (const [slow, fast] of [
    [second, third],
    [third, second],
  ]) {
    for (let ahead = 0; ahead < 8; ahead += 1) {
      const tabs = [opened(memory), opened(memory)] as const;
      for (const tab of tabs) {
        await tab.read(OWNER);
        await save(tab, first);
      }
      const saving = save(tabs[0], slow as typeof first);
      for (let turn = 0; turn < ahead; turn += 1) await new Promise(setImmediate);
      await Promise.all([saving, save(tabs[1], fast as typeof first)]);
      const read = await opened(memory).read(OWNER);
      const meant = editions.get(read?.copy.version ?? '');
      const stale = new Set(read?.copy.stale);
      const known = read?.copy.all.filter(({ id }) => !stale.has(id));
      expect(known).toEqual(meant?.all.filter(({ id }) => !stale.has(id)));
    }
  }
});
