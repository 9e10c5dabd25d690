import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import {
  CATALOG,
  noNetwork,
  openPhone,
  PAGE,
  PRO,
  serverCatalog,
  storedCopy,
  untilKept,
} from '../support/catalog-phone.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';

const DEMO_LOGIN = '700001';

const app = sharedApp({ SANDBOX_INSTRUMENTS: '120' });

/** What an app that draws at each change has drawn. */
function drawn(phone: ReturnType<typeof openPhone>) {
  const states: { version: string | null; confirmed: boolean; size: number }[] = [];
  const { catalog } = phone;
  catalog.onChange(() => {
    const { version, confirmed, size } = catalog;
    states.push({ version, confirmed, size });
  });
  return states;
}

test.each([
  ['no network', noNetwork],
  ['a captive portal', async () => new Response('<h1>Sign in to this network</h1>')],
])(
  'with %s a stored copy is shown with its age, and confirmed by the server later',
  async (_what, away) => {
    let nowMs = 1_800_000_000_000;
    const now = () => nowMs;
    const storage = await storedCopy(app, { now });
    let isOffline = true;
    nowMs += 3_600_000;
    using phone = openPhone(app, {
      storage,
      now,
      network: (_sent, send) => (isOffline ? away() : send()),
    });
    const states = drawn(phone);
    const { catalog } = phone;
    await catalog.load({ account: DEMO_LOGIN });
    await phone.agrees();
    expect(catalog.search('aapl')[0]?.id).toBe('AAPL');
    expect(catalog.confirmed).toBe(false);
    expect(catalog.ageSeconds).toBeGreaterThanOrEqual(3_590);
    nowMs += 1;
    isOffline = false;
    await catalog.sync();
    expect(catalog.confirmed).toBe(true);
    expect(catalog.ageSeconds).toBeLessThan(3_590);
    const { version, size } = catalog;
    expect(states).toEqual([
      { version, confirmed: false, size },
      { version, confirmed: true, size },
    ]);
  },
);

test('where the server names another login nothing of the first is seen from then on', async () => {
  const storage = await storedCopy(app);
  const [demo, pro] = [await serverCatalog(app), await serverCatalog(app, PRO)];
  const release = Promise.withResolvers<void>();
  using phone = openPhone(app, {
    storage,
    email: PRO,
    network: async (_sent, send) => {
      await release.promise;
      return send();
    },
  });
  const { catalog, core } = phone;
  const states = drawn(phone);
  const seen: number[] = [];
  const loading = catalog.load({ account: DEMO_LOGIN });
  await eventually(() => catalog.size > 0);
  const asked = core.account().then(() => void seen.push(catalog.size));
  release.resolve();
  await Promise.all([loading, asked]);
  expect(seen).toEqual([0]);
  expect(states).toEqual([
    { version: demo.version, confirmed: false, size: demo.size },
    { version: null, confirmed: false, size: 0 },
    { version: pro.version, confirmed: true, size: pro.size },
  ]);
});

test('nobody who is signed out sees a copy', async () => {
  const storage = await storedCopy(app);
  using phone = openPhone(app, { storage, email: null });
  for (let times = 0; times < 2; times += 1) {
    const loading = phone.catalog.load({ account: DEMO_LOGIN });
    await expect(loading).rejects.toMatchObject({ code: 'SIGNED_OUT' });
    expect(phone.catalog.size).toBe(0);
  }
});

test('signing in as another while it is read shows nothing of the first', async () => {
  const storage = createMemoryStorage();
  await storedCopy(app, { storage });
  const release = Promise.withResolvers<void>();
  storage.before = (step) => (step === 'get' ? release.promise : undefined);
  using phone = openPhone(app, { storage, email: PRO });
  const states = drawn(phone);
  await phone.core.account();
  const loading = phone.catalog.load({ account: DEMO_LOGIN });
  release.resolve();
  await loading;
  await phone.agrees();
  expect(states.map(({ version }) => version)).toEqual([phone.catalog.version]);
});

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
