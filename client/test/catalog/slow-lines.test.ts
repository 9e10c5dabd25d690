import { beforeAll, describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import type { LoadProgress } from '../../src/catalog/catalog.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import type { ClientStorage } from '../../src/storage.ts';
import {
  changeCatalog,
  openPhone,
  type PhoneOptions,
  serverCatalog,
} from '../support/catalog-phone.ts';

const PART = 'TradingGraphCatalogPart';
const SLOW = { isSlowLine: () => true };
const noNetwork = () => Promise.reject(new TypeError('no network'));

const app = sharedApp({ SANDBOX_INSTRUMENTS: '1000' });
let present: Awaited<ReturnType<typeof serverCatalog>>;
beforeAll(async () => {
  present = await serverCatalog(app);
});

/** Nothing comes, until the request is given up. */
const untilLeft = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

type Phone = ReturnType<typeof openPhone>;
const placesOf = (phone: Phone) => phone.sentNamed(PART).map(({ variables }) => variables.after);

/** A network that lets so many parts through. */
function partsUntil(limit: { parts: number }): NonNullable<PhoneOptions['network']> {
  return ({ name }, send) => {
    if (name !== PART) return send();
    limit.parts -= 1;
    return limit.parts < 0 ? noNetwork() : send();
  };
}

describe('on a slow line', () => {
  test('the catalog comes in parts from the start, and its progress is told', async () => {
    using phone = openPhone(app, SLOW);
    const told: LoadProgress[] = [];
    await phone.catalog.load({ onProgress: (progress) => void told.push(progress) });
    expect(phone.catalog.all).toEqual(present.instruments);
    expect(phone.catalog.version).toBe(present.version);
    expect(phone.sentNamed('TradingGraphCatalog')).toEqual([]);
    expect(told.map(({ total }) => total)).toEqual(told.map(() => present.size));
    expect(told.length).toBeGreaterThan(2);
    const loaded = told.map(({ loaded }) => loaded);
    expect(loaded).toEqual([...new Set(loaded)].sort((a, b) => a - b));
    expect(loaded.at(-1)).toBe(present.size);
    await eventually(() => phone.environment.timers.size === 0);
  });

  test('a cut costs one part', async () => {
    let parts = 0;
    using phone = openPhone(app, {
      ...SLOW,
      network: ({ name }, send) => {
        if (name !== PART) return send();
        parts += 1;
        return parts === 2 || parts === 3 ? noNetwork() : send();
      },
    });
    await phone.catalog.load();
    expect(phone.catalog.all).toEqual(present.instruments);
    const places = placesOf(phone);
    expect(places).toHaveLength(new Set(places).size + 2);
  });

  test.each([
    ['two seconds, of which a round trip may have all', 2_300, [100, 100, 200, 200, 250]],
    ['six seconds', 6_000, [100, 100, 100, 100, 100]],
    ['ten seconds', 10_000, [100, 100, 50, 50, 50]],
  ])(
    'a part that takes %s decides the size of those that are not asked for yet',
    async (_, takesMs, sizes) => {
      let atMs = 0;
      let parts = 0;
      const abort = new AbortController();
      using phone = openPhone(app, {
        ...SLOW,
        uptime: () => atMs,
        network: async ({ name }, send, signal) => {
          if (name !== PART) return send();
          parts += 1;
          const own = parts;
          if (own >= sizes.length) return untilLeft(signal);
          // An answer comes when the one before has been taken up, by which the next part is asked for.
          await eventually(() => own === 1 || parts > own);
          atMs += takesMs;
          return send();
        },
      });
      const loading = phone.catalog.load({ signal: abort.signal });
      // With two on their way another one may follow before this is seen.
      await eventually(() => parts >= sizes.length);
      abort.abort();
      await expect(loading).rejects.toMatchObject({ code: 'ABORTED' });
      const asked = phone.sentNamed(PART).map(({ variables }) => variables.first);
      expect(asked.slice(0, sizes.length)).toEqual(sizes);
    },
  );

  test('two parts are on their way from the first answer on, and none is asked for twice', async () => {
    let parts = 0;
    using phone = openPhone(app, {
      ...SLOW,
      network: async ({ name }, send) => {
        if (name !== PART) return send();
        parts += 1;
        const own = parts;
        // A download of one part after the other would stand still here.
        if (own === 2 || own === 4) await eventually(() => parts > own);
        return send();
      },
    });
    await phone.catalog.load();
    expect(phone.catalog.all).toEqual(present.instruments);
    const places = placesOf(phone);
    expect(places).toHaveLength(new Set(places).size);
  });

  test('what came of a download that failed is kept, in memory and in the storage', async () => {
    const storage = memoryStorage();
    const limit = { parts: 2 };
    const options = { ...SLOW, storage, network: partsUntil(limit) };
    const firstPlaces: unknown[] = [];
    {
      using phone = openPhone(app, options);
      for (const parts of [2, 1]) {
        limit.parts = parts;
        const former = placesOf(phone).length;
        await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
        firstPlaces.push(placesOf(phone)[former]);
      }
      expect(phone.catalog.size).toBe(0);
      expect(placesOf(phone).filter((after) => after === null)).toHaveLength(1);
      await eventually(async () => expect(await storage.keys('')).toHaveLength(3));
    }
    limit.parts = 1_000;
    const told: LoadProgress[] = [];
    using again = openPhone(app, options);
    await again.catalog.load({ onProgress: (progress) => void told.push(progress) });
    expect(new Set([null, ...firstPlaces, placesOf(again)[0]]).size).toBe(3);
    expect(told[0]?.loaded).toBeGreaterThan(300);
    expect(again.catalog.all).toEqual(present.instruments);
    // The copy is kept by then, and nothing of the download.
    await eventually(async () => {
      const keys = await storage.keys('');
      expect(keys.map((key) => key.split('[')[0])).toEqual(Array(5).fill('trading-graph:catalog:'));
    });
  });

  test.each<[string, (storage: ClientStorage, steps: readonly string[]) => Promise<void>]>([
    [
      'of what was kept the undamaged beginning is used',
      async (storage, [, second = '']) => {
        const text = (await storage.get(second)) ?? '';
        await storage.set(second, text.replace('"name"', '"nome"'));
      },
    ],
    [
      'a step that does not follow the one before is not taken',
      async (storage, [, second = '', third = '']) => {
        await storage.set(second, (await storage.get(third)) ?? '');
      },
    ],
  ])('%s', async (_what, damage) => {
    const storage = memoryStorage();
    const limit = { parts: 3 };
    const options = { ...SLOW, storage, network: partsUntil(limit) };
    let places: unknown[];
    {
      using phone = openPhone(app, options);
      await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
      places = placesOf(phone);
    }
    await eventually(async () => expect(await storage.keys('')).toHaveLength(3));
    await damage(storage, [...(await storage.keys(''))].sort());
    limit.parts = 1_000;
    using again = openPhone(app, options);
    await again.catalog.load();
    expect(placesOf(again)[0]).toBe(places[1]);
    expect(again.catalog.all).toEqual(present.instruments);
  });

  test('another account goes on with nothing of it', async () => {
    const storage = memoryStorage();
    const limit = { parts: 2 };
    const options = { ...SLOW, storage, network: partsUntil(limit) };
    using phone = openPhone(app, options);
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
    await phone.signIn('pro@example.com');
    limit.parts = 1_000;
    await phone.catalog.load();
    const pro = await serverCatalog(app, 'pro@example.com');
    expect(phone.catalog.all).toEqual(pro.instruments);
    expect(placesOf(phone).filter((after) => after === null)).toHaveLength(2);
  });
});

describe('a catalog that changes between two parts', () => {
  const served = async (own: TestApp) => (await serverCatalog(own)).version;

  test('is one of the last version, and the parts that came are not fetched again', async () => {
    await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '600' });
    let changes = 0;
    let at = 0;
    using phone = openPhone(own, {
      ...SLOW,
      network: async ({ name }, send) => {
        const response = await send();
        if (name !== PART) return response;
        at += 1;
        if (at > 2) return response;
        const former = await served(own);
        await changeCatalog(own, { change: 40, add: 9, remove: 7 });
        changes += 1;
        await expect.poll(() => served(own)).not.toBe(former);
        return response;
      },
    });
    await phone.catalog.load();
    expect(changes).toBe(2);
    const places = placesOf(phone);
    expect(places.filter((after) => after === null)).toHaveLength(1);
    expect(phone.sentNamed('TradingGraphCatalog').length).toBeGreaterThan(0);
    await phone.catalog.sync();
    const now = await serverCatalog(own);
    expect(phone.catalog.version).toBe(now.version);
    expect(phone.catalog.all).toEqual(now.instruments);
  });

  test('is begun again where the server has forgotten the version', async () => {
    let isForgotten = true;
    const versions: unknown[] = [];
    using phone = openPhone(app, {
      ...SLOW,
      network: async ({ name, variables }, send) => {
        const response = await send();
        if (name === 'TradingGraphCatalog') versions.push(variables.since);
        if (name !== PART || !isForgotten) return response;
        // The first part is of a version that nobody knows.
        isForgotten = false;
        const body = (await response.json()) as { data: { catalog: { version: string } } };
        body.data.catalog.version = 'forgotten';
        return Response.json(body);
      },
    });
    await phone.catalog.load();
    expect(versions).toEqual(['forgotten']);
    expect(placesOf(phone).filter((after) => after === null)).toHaveLength(2);
    expect(phone.catalog.all).toEqual(present.instruments);
  });

  test('again and again is given up', async () => {
    let version = 0;
    using phone = openPhone(app, {
      ...SLOW,
      network: async ({ name }, send) => {
        const response = await send();
        if (name !== PART) return response;
        version += 1;
        const body = (await response.json()) as { data: { catalog: { version: string } } };
        body.data.catalog.version = `version ${version}`;
        return Response.json(body);
      },
    });
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'PROTOCOL' });
    expect(phone.sentNamed(PART).length).toBeLessThan(30);
  });
});

describe('a line that nobody knows to be slow', () => {
  test.each([
    ['is lost', noNetwork],
    ['takes long', untilLeft],
  ])('is left for parts when the whole %s', async (_what, whole) => {
    using phone = openPhone(app, {
      hurry: (ms) => (ms <= 5_000 ? Math.min(ms, 10) : ms),
      network: ({ name }, send, signal) =>
        name === 'TradingGraphCatalog' ? whole(signal) : send(),
    });
    await phone.catalog.load();
    expect(phone.sentNamed('TradingGraphCatalog')).toHaveLength(1);
    expect(phone.catalog.all).toEqual(present.instruments);
    expect(phone.environment.pauses).toContain(5_000);
  });

  test('brings changes by their ids when they are lost', async () => {
    const storage = memoryStorage();
    using phone = openPhone(app, {
      storage,
      network: ({ name, variables }, send) =>
        name === 'TradingGraphCatalog' && variables.since !== '' ? noNetwork() : send(),
    });
    await phone.catalog.load();
    await phone.catalog.sync();
    expect(phone.sentNamed('TradingGraphCatalogIds')).toHaveLength(1);
    expect(phone.catalog.version).toBe(present.version);
  });
});

describe('who waits for it', () => {
  const hanging: NonNullable<PhoneOptions['network']> = ({ name }, send, signal) =>
    name === PART ? untilLeft(signal) : send();

  test('leaves with a signal, and ends the download with it', async () => {
    using phone = openPhone(app, { ...SLOW, network: hanging });
    const abort = new AbortController();
    const rejected = expect(phone.catalog.load({ signal: abort.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    await eventually(() => phone.sentNamed(PART).length === 1);
    abort.abort();
    await rejected;
    await eventually(() => phone.environment.timers.size === 0);
    const again = phone.catalog.load({ signal: AbortSignal.abort() });
    await expect(again).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('leaves after its time, and what came is taken up by the next', async () => {
    const limit = { parts: 1 };
    using phone = openPhone(app, {
      ...SLOW,
      hurry: (ms) => (ms === 5_000 ? 1_500 : ms),
      network: ({ name }, send, signal) => {
        if (name !== PART) return send();
        limit.parts -= 1;
        return limit.parts < 0 ? untilLeft(signal) : send();
      },
    });
    let told = 0;
    const onProgress = () => {
      told += 1;
    };
    const leaving = phone.catalog.load({ timeoutMs: 5_000, onProgress });
    await expect(leaving).rejects.toMatchObject({ code: 'NETWORK', retryable: true });
    limit.parts = 1_000;
    await phone.catalog.load();
    expect(told).toBe(1);
    expect(phone.catalog.all).toEqual(present.instruments);
    expect(placesOf(phone).filter((after) => after === null)).toHaveLength(1);
  });

  test('leaves the others waiting', async () => {
    const release = Promise.withResolvers<void>();
    using phone = openPhone(app, {
      ...SLOW,
      network: async ({ name }, send) => {
        if (name === PART) await release.promise;
        return send();
      },
    });
    const abort = new AbortController();
    const [first, second] = [phone.catalog.load({ signal: abort.signal }), phone.catalog.load()];
    abort.abort();
    await expect(first).rejects.toMatchObject({ code: 'ABORTED' });
    release.resolve();
    await second;
    expect(phone.catalog.all).toEqual(present.instruments);
  });
});
