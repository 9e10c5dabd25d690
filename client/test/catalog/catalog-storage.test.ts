import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import type { ClientStorage } from '../../src/storage.ts';
import {
  changeCatalog,
  DEMO,
  openPhone,
  type PhoneOptions,
  PRO,
  serverCatalog,
  untilServed,
} from '../support/catalog-phone.ts';

const GROUP = 'standard-usd';
const KEY = `trading-graph:catalog:["700001","${GROUP}"]`;
const ENTRY = `trading-graph:catalog:["700001","${GROUP}",0]`;

const app = sharedApp({ SANDBOX_INSTRUMENTS: '120' });
const large = sharedApp({ SANDBOX_INSTRUMENTS: '1000' });
let present: Awaited<ReturnType<typeof serverCatalog>>;
beforeAll(async () => {
  present = await serverCatalog(app);
});

/** Everything works but the catalog itself. */
const withoutCatalog: NonNullable<PhoneOptions['network']> = ({ name }, send) =>
  name.startsWith('TradingGraphCatalog') && name !== 'TradingGraphCatalogOwner'
    ? Promise.reject(new TypeError('no network'))
    : send();

/** A storage in which the demo user's copy is. */
async function storageWithCopy(): Promise<ClientStorage> {
  const storage = memoryStorage();
  using phone = openPhone(app, { storage });
  await phone.catalog.load();
  await eventually(async () => expect(await storage.get(ENTRY)).not.toBeNull());
  return storage;
}

/** The versions from which a new start of the app asks for changes. */
async function startsFrom(storage: ClientStorage, options: PhoneOptions = {}) {
  using phone = openPhone(app, { storage, ...options });
  await phone.catalog.load();
  expect(phone.catalog.all).toEqual(present.instruments);
  expect(phone.catalog.version).toBe(present.version);
  return phone.sentNamed('TradingGraphCatalog').map(({ variables }) => variables.since);
}

describe('after a restart', () => {
  test('the copy is there before the server has said what changed', async () => {
    const storage = await storageWithCopy();
    const seen: (string | null)[] = [];
    using phone = openPhone(app, {
      storage,
      network: (sent, send) => {
        if (sent.name === 'TradingGraphCatalog') seen.push(phone.catalog.version);
        return send();
      },
    });
    let told = 0;
    phone.catalog.onChange(() => {
      told += 1;
    });
    await phone.catalog.load();
    expect(seen).toEqual([present.version]);
    expect(phone.catalog.all).toEqual(present.instruments);
    expect(told).toBe(1);
    expect(await startsFrom(storage)).toEqual([present.version]);
  });

  test('the copy serves while the server has none; its age counts the time between, but never less because of a clock that was set back', async () => {
    const storage = memoryStorage();
    let nowMs = 1_800_000_000_000;
    const now = () => nowMs;
    let age = 0;
    {
      using phone = openPhone(app, { storage, now });
      await phone.catalog.load();
      age = phone.catalog.ageSeconds ?? 0;
      await eventually(async () => expect(await storage.get(ENTRY)).not.toBeNull());
    }
    const ageAfter = async (ms: number) => {
      nowMs += ms;
      using phone = openPhone(app, { storage, now, uptime: () => 0, network: withoutCatalog });
      await phone.catalog.load();
      expect(phone.catalog.all).toEqual(present.instruments);
      await expect(phone.catalog.sync()).rejects.toMatchObject({ code: 'NETWORK' });
      return phone.catalog.ageSeconds;
    };
    expect(await ageAfter(3_600_000)).toBe(age + 3_600);
    expect(await ageAfter(-86_400_000)).toBe(age);
  });
});

test.each([
  ['whose head is damaged', KEY],
  ['of which no entry is readable', ENTRY],
])('a stored copy %s is fetched anew and repaired', async (_which, key) => {
  const storage = await storageWithCopy();
  const text = (await storage.get(key)) ?? '';
  await storage.set(key, text.slice(0, -9));
  expect(await startsFrom(storage)).toEqual(['']);
  await eventually(async () => expect(await startsFrom(storage)).toEqual([present.version]));
});

describe('a storage that fails', () => {
  const failing = (changed: Partial<ClientStorage>): ClientStorage => ({
    ...memoryStorage(),
    ...changed,
  });
  const throwing = () => {
    throw new Error('storage is broken');
  };
  const refuse = async () => throwing();
  const keys = async (prefix: string) => [KEY].filter((key) => key.startsWith(prefix));

  test.each([
    ['to read', failing({ get: refuse, keys })],
    ['to write', failing({ set: refuse })],
    ['to list', failing({ keys: refuse })],
    ['to do anything', failing({ get: refuse, set: refuse, keys: refuse, delete: refuse })],
    ['by throwing at once', failing({ get: throwing, set: throwing })],
    ['by answering with what is no text', failing({ get: async () => 5 as never, keys })],
  ])('%s costs no more than fetching', async (_name, storage) => {
    using phone = openPhone(app, { storage });
    await phone.catalog.load();
    expect(phone.catalog.all).toEqual(present.instruments);
    await phone.catalog.sync();
    await eventually(() => expect(phone.catalog.storageError).toBeInstanceOf(Error));
  });

  test('and works again keeps the copy at the next sync', async () => {
    const kept = memoryStorage();
    let isBroken = true;
    const storage = failing({
      ...kept,
      set: (key, text) => (isBroken ? refuse() : kept.set(key, text)),
    });
    using phone = openPhone(app, { storage });
    await phone.catalog.load();
    await eventually(() => expect(phone.catalog.storageError).not.toBeNull());
    expect(await kept.keys('')).toEqual([]);
    isBroken = false;
    await phone.catalog.sync();
    await eventually(async () => expect(await kept.keys('')).toEqual([KEY, ENTRY]));
    expect(phone.catalog.storageError).toBeNull();
  });

  /** A storage that refuses whatever would be a text more than it has room for. */
  function full(room: number) {
    const kept = memoryStorage();
    let refusals = 0;
    const set = async (key: string, text: string) => {
      const keys = await kept.keys('');
      if (!keys.includes(key) && keys.length >= room) {
        refusals += 1;
        throw new Error('storage is full');
      }
      await kept.set(key, text);
    };
    return { ...failing({ ...kept, set }), refused: () => refusals };
  }

  test.each([0, 1, 2])('with room for %i texts keeps no part of a download', async (room) => {
    const storage = full(room);
    let parts = 0;
    using phone = openPhone(large, {
      storage,
      isSlowLine: () => true,
      network: ({ name }, send) => {
        if (name === 'TradingGraphCatalogPart') parts += 1;
        return parts > 3 ? Promise.reject(new TypeError('no network')) : send();
      },
    });
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
    await eventually(() => storage.refused() > 0 && phone.catalog.storageError !== null);
    await eventually(async () => expect(await storage.keys('')).toEqual([]));
    expect(storage.refused()).toBe(1);
  });

  test('with room for the parts or the copy keeps the copy', async () => {
    const storage = full(6);
    using phone = openPhone(large, { storage, isSlowLine: () => true });
    await phone.catalog.load();
    expect(phone.sentNamed('TradingGraphCatalogPart')).toHaveLength(6);
    await eventually(() => phone.catalog.storageError === null);
    const entries = [0, 1, 2, 3].map((at) => ENTRY.replace(',0]', `,${at}]`));
    await eventually(async () => expect(await storage.keys('')).toEqual([KEY, ...entries]));
    expect(storage.refused()).toBe(1);
  });

  test('with no room for another copy keeps the former one', async () => {
    await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '120' });
    const kept = memoryStorage();
    let isFull = false;
    const set = (key: string, text: string) => (isFull ? refuse() : kept.set(key, text));
    using phone = openPhone(own, { storage: failing({ ...kept, set }) });
    await phone.catalog.load();
    await eventually(async () => expect(await kept.keys('')).toEqual([KEY, ENTRY]));
    isFull = true;
    await changeCatalog(own, { change: 5 });
    await untilServed(own, phone.catalog.version ?? '');
    const former = await kept.get(KEY);
    await phone.catalog.sync();
    await eventually(() => phone.catalog.storageError !== null);
    expect(await kept.get(KEY)).toBe(former);
  });

  test('to answer is not waited for longer than five seconds', async () => {
    const never = () => new Promise<never>(() => {});
    using phone = openPhone(app, {
      storage: failing({ get: never, set: never, keys }),
      hurry: (ms) => (ms <= 5_000 ? Math.min(ms, 10) : ms),
    });
    await phone.catalog.load();
    expect(phone.catalog.all).toEqual(present.instruments);
    expect(phone.environment.pauses).toContain(5_000);
    expect(phone.catalog.storageError).toBeInstanceOf(Error);
    await phone.catalog.sync();
  });
});

describe('two users of two groups on one phone', () => {
  test('never see each other’s copy', async () => {
    const storage = memoryStorage();
    const pro = await serverCatalog(app, PRO);
    expect(pro.version).not.toBe(present.version);
    using phone = openPhone(app, { storage });
    const { catalog } = phone;
    await catalog.load();
    await phone.signIn(PRO);
    expect(catalog.size).toBe(0);
    await catalog.load();
    expect(catalog.all).toEqual(pro.instruments);
    await phone.signIn(DEMO);
    await catalog.load();
    expect(catalog.all).toEqual(present.instruments);
    await eventually(async () => expect(await storage.keys('')).toHaveLength(4));
    const since = phone.sentNamed('TradingGraphCatalog').map(({ variables }) => variables.since);
    // The first user's copy was kept meanwhile.
    expect(since).toEqual(['', '', present.version]);
    // Nor is the group asked for where nothing is kept.
    expect(phone.sentNamed('TradingGraphCatalogOwner')).toHaveLength(1);
  });

  test.each([
    ['of the other one', KEY, PRO],
    ['of the other one under its own key', 'trading-graph:catalog:["700002","pro-usd"]', PRO],
    ['of the group that it was in', 'trading-graph:catalog:["700001","pro-usd"]', DEMO],
  ])('an account sees no copy %s, without a catalog either', async (_whose, key, email) => {
    const storage = await storageWithCopy();
    for (const own of [KEY, ENTRY]) {
      const text = (await storage.get(own)) ?? '';
      await storage.delete(own);
      await storage.set(own.replace(KEY.slice(0, -1), key.slice(0, -1)), text);
    }
    using phone = openPhone(app, { storage, email, network: withoutCatalog });
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
    expect(phone.catalog.size).toBe(0);
  });

  test.each(['TradingGraphCatalogOwner', 'TradingGraphCatalog'])(
    'nothing of the one is shown where the other signs in during %s',
    async (during) => {
      const storage = await storageWithCopy();
      const pro = await serverCatalog(app, PRO);
      let isFirst = true;
      using phone = openPhone(app, {
        // The first request is asked with a copy in one case, and without in the other.
        storage: during === 'TradingGraphCatalog' ? memoryStorage() : storage,
        network: async ({ name }, send) => {
          const response = await send();
          if (name === during && isFirst) {
            isFirst = false;
            phone.signInSilently(PRO);
          }
          return response;
        },
      });
      const versions: (string | null)[] = [];
      phone.catalog.onChange(() => void versions.push(phone.catalog.version));
      await phone.catalog.load();
      expect(phone.catalog.all).toEqual(pro.instruments);
      expect(versions).toEqual([pro.version]);
    },
  );

  test('signing out leaves nothing to be seen', async () => {
    const storage = memoryStorage();
    using phone = openPhone(app, { storage });
    const { catalog } = phone;
    await catalog.load();
    let told = 0;
    catalog.onChange(() => {
      told += 1;
    });
    await phone.signIn(null);
    expect(catalog.size).toBe(0);
    expect(catalog.version).toBeNull();
    expect(told).toBe(1);
    await expect(catalog.load()).rejects.toMatchObject({ code: 'SIGNED_OUT' });
  });
});

test('an account that is moved to another group gets that group’s catalog whole, and the former copy is removed', async () => {
  const storage = memoryStorage();
  let isMoved = false;
  using phone = openPhone(app, {
    storage,
    // The server answers the account as one of the other group.
    network: ({ name }, send) =>
      name === 'TradingGraphCatalog' && isMoved ? send(app.sandbox.token({ email: PRO })) : send(),
  });
  const { catalog } = phone;
  await catalog.load();
  await eventually(async () => expect(await storage.keys('')).toEqual([KEY, ENTRY]));
  isMoved = true;
  await catalog.sync();
  const pro = await serverCatalog(app, PRO);
  expect(catalog.all).toEqual(pro.instruments);
  expect(catalog.version).toBe(pro.version);
  await eventually(async () =>
    expect(await storage.keys('')).toEqual(
      [KEY, ENTRY].map((key) => key.replace(GROUP, 'pro-usd')),
    ),
  );
});
