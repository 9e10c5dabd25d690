import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import { CATALOG, openPhone, PAGE, storedCopy, untilKept } from '../support/catalog-phone.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';

const app = sharedApp({ SANDBOX_INSTRUMENTS: '120' });

describe('forgetting', () => {
  test('ends a load that is under way, which keeps nothing', async () => {
    const storage = memoryStorage();
    const release = Promise.withResolvers<void>();
    using phone = openPhone(app, {
      storage,
      network: async ({ name }, send) => {
        if (name === CATALOG) await release.promise;
        return send();
      },
    });
    const rejected = expect(phone.catalog.load()).rejects.toMatchObject({ code: 'ABORTED' });
    await eventually(() => expect(phone.sentNamed(CATALOG)).toHaveLength(1));
    await phone.catalog.forget();
    release.resolve();
    await rejected;
    expect(phone.catalog.size).toBe(0);
    await phone.catalog.load();
    await phone.agrees();
  });

  test('waits for a copy that is being written, and deletes it, but no keys of orders; the next copy is written whole', async () => {
    const storage = createMemoryStorage();
    storage.entries.set('orders/700001/key', '{}');
    const writing = Promise.withResolvers<void>();
    storage.before = (step) => (step === 'set' ? writing.promise : undefined);
    using phone = openPhone(app, { storage });
    await phone.catalog.load();
    const forgetting = phone.catalog.forget();
    writing.resolve();
    await forgetting;
    expect([...storage.entries.keys()]).toEqual(['orders/700001/key']);
    await phone.catalog.load();
    await untilKept(storage, 3);
    using again = openPhone(app, { storage });
    await again.catalog.load();
    expect(again.versionsAsked()).toEqual([phone.catalog.version]);
    expect(again.sentNamed(PAGE)).toEqual([]);
  });

  test('says that something may be left', async () => {
    const storage = createMemoryStorage();
    await storedCopy(app, { storage });
    using phone = openPhone(app, { storage });
    storage.failing.add('delete');
    await expect(phone.catalog.forget()).rejects.toMatchObject({ code: 'STORAGE' });
  });
});
