import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { startTestApp } from '../../../test/support/app.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import { createCatalog } from '../../src/catalog/replica.ts';
import { createClient } from '../../src/create-client.ts';
import { INSTRUMENT_FIELDS } from '../../src/generated/rows.ts';
import { CATALOG, changeCatalog, openPhone, untilServed } from '../support/catalog-phone.ts';
import { signedIn, startCore } from '../support/client.ts';

const app = sharedApp({ SANDBOX_INSTRUMENTS: '120' });

describe('loading', () => {
  test('belongs to the client, which is told the fields', async () => {
    const client = createClient({ ...signedIn(app), catalogFields: ['digits'] });
    await client.catalog.load();
    expect(client.catalog.get('AAPL')?.digits).toBe(2);
    expect(client.catalog.get('NOWHERE')).toBeNull();
    // The fields that search needs come with them.
    const fields = Object.keys(client.catalog.get('AAPL') ?? {});
    expect(fields.toSorted()).toEqual(['digits', 'id', 'name', 'symbol']);
    client.dispose();
    expect(client.catalog.size).toBe(0);
  });

  test('refuses a field that instruments do not have', () => {
    using core = startCore(app);
    expect(() => createCatalog(core, ['positions{id}' as 'min'])).toThrow(TypeError);
  });
});

describe('syncing', () => {
  test('at the same time is one request', async () => {
    using phone = openPhone(app);
    const { catalog } = phone;
    await Promise.all([catalog.load(), catalog.sync(), catalog.load(), catalog.sync()]);
    expect(phone.sentNamed(CATALOG)).toHaveLength(1);
    await Promise.all([catalog.sync(), catalog.sync()]);
    expect(phone.sentNamed(CATALOG)).toHaveLength(2);
  });

  test('keeps every object that has not changed, and tells the listeners of changes until they leave', async () => {
    await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '60' });
    using phone = openPhone(own);
    const { catalog } = phone;
    await catalog.load();
    const former = catalog.all;
    const seen: number[] = [];
    const listener = () => void seen.push(catalog.size);
    const leave = catalog.onChange(listener);
    catalog.onChange(listener);
    await catalog.sync();
    expect(catalog.all).toBe(former);
    expect(phone.versionsAsked()).toEqual(['', catalog.version]);
    expect(seen).toEqual([]);
    await changeCatalog(own, { change: 2, add: 3, remove: 1 });
    const { version } = await untilServed(own, catalog.version ?? '');
    await catalog.sync();
    await phone.agrees();
    expect(seen).toEqual([catalog.size, catalog.size]);
    const same = former.filter((it) => isDeepStrictEqual(it, catalog.get(it.id)));
    expect(same.length).toBeGreaterThanOrEqual(former.length - 3);
    for (const instrument of same) expect(catalog.get(instrument.id)).toBe(instrument);
    leave();
    leave();
    await changeCatalog(own, { change: 1 });
    await untilServed(own, version);
    await catalog.sync();
    expect(seen).toHaveLength(3);
  });
});

test('a catalog with more fields than an answer may have is fetched in pages of one version', async () => {
  await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '1200', MAX_COST: '20000' });
  using phone = openPhone(own);
  const { catalog } = phone;
  await catalog.load();
  expect(catalog.size).toBeGreaterThan(1_000);
  const parts = phone.partsAsked().map(({ length }) => length);
  expect(parts.slice(0, -1)).toEqual([100, 100, 200, 250, 250, 250].slice(0, parts.length - 1));
  const token = own.sandbox.token({ email: 'demo@example.com' });
  const { data } = await own.query('{ catalog { version instruments { id } } }', { token });
  expect(catalog.version).toBe(data.catalog.version);
  expect(catalog.all.map(({ id }) => ({ id }))).toEqual(data.catalog.instruments);
  expect(Object.keys(catalog.all[0] ?? {}).length).toBe(INSTRUMENT_FIELDS.length);
  await catalog.sync();
  expect(phone.sentNamed(CATALOG)).toHaveLength(1);
});

test('its end leaves no timer and no listener, tells nobody, and rejects what is under way', async () => {
  using phone = openPhone(app);
  const { catalog, environment } = phone;
  await catalog.load();
  catalog.onChange(() => expect.unreachable());
  const disposed = { code: 'DISPOSED' };
  const rejected = expect(catalog.sync()).rejects.toMatchObject(disposed);
  phone.core.dispose();
  await rejected;
  await expect(catalog.load()).rejects.toMatchObject(disposed);
  await expect(catalog.sync()).rejects.toMatchObject(disposed);
  expect(catalog.size).toBe(0);
  expect([environment.timers.size, environment.listeners.size]).toEqual([0, 0]);
});
