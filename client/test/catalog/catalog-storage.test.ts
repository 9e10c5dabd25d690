import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import type { ClientStorage } from '../../src/storage.ts';
import { CATALOG, openPhone, PRO, serverCatalog, storedCopy } from '../support/catalog-phone.ts';
import { createMemoryStorage } from '../support/memory-storage.ts';

const GROUP = 'standard-usd';
const KEY = `trading-graph:catalog:["700001","${GROUP}"]`;
const ENTRY = `trading-graph:catalog:["700001","${GROUP}",0]`;

const app = sharedApp({ SANDBOX_INSTRUMENTS: '120' });

/** The versions from which a new start of the app asks for changes. */
async function startsFrom(storage: ClientStorage) {
  using phone = openPhone(app, { storage });
  await phone.catalog.load();
  await phone.agrees();
  return phone.versionsAsked();
}

const cutOff = (text: string) => text.slice(0, -9);
/** The text with other content, as another version of this package may have stored it. */
const having = (changed: object) => (text: string) =>
  JSON.stringify({ ...JSON.parse(text), ...changed });
const havingRow = (change: (row: object) => unknown) => (text: string) => {
  const [first, ...others] = JSON.parse(text).rows;
  return having({ rows: [change(first), ...others] })(text);
};
const havingEntry = (entry: object) => having({ entries: [entry] });

test.each<[string, string, (text: string) => string]>([
  ['whose head is cut off', KEY, cutOff],
  ['of another format', KEY, having({ format: 1 })],
  ['of other fields', KEY, having({ fields: 'id' })],
  ['whose version is no text', KEY, having({ version: 5 })],
  ['whose version is empty', KEY, having({ version: '' })],
  ['whose entries are no list', KEY, having({ entries: { 0: { version: 'v', ids: [] } } })],
  ['with an entry without a version', KEY, havingEntry({ ids: [] })],
  ['with an id that is no text', KEY, havingEntry({ version: 'v', ids: [5] })],
  ['whose age is below zero', KEY, having({ ageSeconds: -1 })],
  ['whose time is no number', KEY, having({ atMs: null })],
  ['of which no entry is readable', ENTRY, cutOff],
  ['whose entry is of other fields', ENTRY, having({ fields: 'id' })],
  ['whose entry has a version that is no text', ENTRY, having({ version: 5 })],
  ['whose instruments are no list', ENTRY, having({ rows: {} })],
  ['with an instrument without its name', ENTRY, havingRow((row) => ({ ...row, name: 1 }))],
])('a stored copy %s is fetched anew and repaired', async (_which, key, damage) => {
  const storage = await storedCopy(app);
  await storage.set(key, damage((await storage.get(key)) ?? ''));
  expect(await startsFrom(storage)).toEqual(['']);
  const { version } = await serverCatalog(app);
  await eventually(async () => expect(await startsFrom(storage)).toEqual([version]));
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
    await phone.agrees();
    await phone.catalog.sync();
    await eventually(() => expect(phone.catalog.storageError).toBeInstanceOf(Error));
  });
});

describe('two users of two groups on one phone', () => {
  test('signing in as another while it is read shows nothing of the first', async () => {
    const storage = createMemoryStorage();
    await storedCopy(app, { storage });
    const release = Promise.withResolvers<void>();
    storage.before = (step) => (step === 'get' ? release.promise : undefined);
    using phone = openPhone(app, { storage, email: PRO });
    const versions: (string | null)[] = [];
    phone.catalog.onChange(() => void versions.push(phone.catalog.version));
    await phone.core.account();
    const loading = phone.catalog.load({ account: '700001' });
    release.resolve();
    await loading;
    await phone.agrees();
    expect(versions).toEqual([phone.catalog.version]);
  });
});

test('an account that is moved to another group gets that group’s catalog whole, and the former copy is removed', async () => {
  const storage = memoryStorage();
  let isMoved = false;
  using phone = openPhone(app, {
    storage,
    // The server answers the account as one of the other group.
    network: ({ name }, send) =>
      name === CATALOG && isMoved ? send(app.sandbox.token({ email: PRO })) : send(),
  });
  const { catalog } = phone;
  await catalog.load();
  await eventually(async () => expect(await storage.keys('')).toEqual([KEY, ENTRY]));
  isMoved = true;
  await catalog.sync();
  const pro = await serverCatalog(app, PRO);
  expect([catalog.all, catalog.version]).toEqual([pro.instruments, pro.version]);
  const moved = [KEY, ENTRY].map((key) => key.replace(GROUP, 'pro-usd'));
  await eventually(async () => expect(await storage.keys('')).toEqual(moved));
});
