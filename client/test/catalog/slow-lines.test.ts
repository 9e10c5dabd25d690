import { describe, expect, test } from 'vitest';
import { startTestApp, type TestApp } from '../../../test/support/app.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { sharedApp } from '../../../test/support/shared-app.ts';
import type { LoadProgress } from '../../src/catalog/catalog.ts';
import { catalogDocuments } from '../../src/catalog/documents.ts';
import { memoryStorage } from '../../src/storage/memory.ts';
import {
  CATALOG,
  changeCatalog,
  IDS,
  noNetwork,
  openPhone,
  PAGE,
  type PhoneOptions,
  PRO,
  untilKept,
  untilServed,
} from '../support/catalog-phone.ts';

const app = sharedApp({ SANDBOX_INSTRUMENTS: '1000' });

/** Nothing comes, until the request is given up. */
const untilLeft = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

interface SlowOptions extends PhoneOptions {
  readonly of?: TestApp;
  /** Says how a part is answered, by its number from 1 on. */
  readonly part?: (
    own: number,
    send: () => Promise<Response>,
    signal: AbortSignal,
  ) => Promise<Response>;
}

/** A phone on a line that the platform knows to be slow. */
function openSlow({ of = app, part = (_own, send) => send(), ...options }: SlowOptions = {}) {
  const phone = openPhone(of, {
    isSlowLine: () => true,
    network: ({ name }, send, signal) =>
      name === PAGE ? part(phone.partsAsked().length, send, signal) : send(),
    ...options,
  });
  return phone;
}

type Phone = ReturnType<typeof openPhone>;
/** The versions since which ids were asked for: none where a download was begun. */
const idsSince = (phone: Phone) => phone.sentNamed(IDS).map(({ variables }) => variables.since);
const beginnings = (phone: Phone) => idsSince(phone).filter((version) => version === '').length;
/** Each part that was asked for, by its first instrument. */
const partsOf = (phone: Phone) => phone.partsAsked().map(([first]) => first);

/** A network that lets so many parts through. */
const partsUntil =
  (limit: { parts: number }): NonNullable<SlowOptions['part']> =>
  (_own, send) => {
    limit.parts -= 1;
    return limit.parts < 0 ? noNetwork() : send();
  };

/** The answer with another version in it. */
async function versioned(answer: Response, version: string): Promise<Response> {
  const body = (await answer.json()) as { data: { catalog: { version: string } } };
  body.data.catalog.version = version;
  return Response.json(body);
}

describe('on a slow line', () => {
  test('the catalog comes in parts from the start, of which a cut costs one, and its progress is told', async () => {
    using phone = openSlow({
      part: (own, send) => (own === 2 || own === 3 ? noNetwork() : send()),
    });
    const told: LoadProgress[] = [];
    await phone.catalog.load({ onProgress: (progress) => void told.push(progress) });
    await phone.agrees();
    expect(phone.sentNamed(CATALOG)).toEqual([]);
    const parts = partsOf(phone);
    expect(parts).toHaveLength(new Set(parts).size + 2);
    const { size } = phone.catalog;
    expect(told.map(({ total }) => total)).toEqual(told.map(() => size));
    expect(told.length).toBeGreaterThan(2);
    const loaded = told.map(({ loaded }) => loaded);
    expect(loaded).toEqual([...new Set(loaded)].sort((a, b) => a - b));
    expect(loaded.at(-1)).toBe(size);
    await eventually(() => expect(phone.environment.timers.size).toBe(0));
  });

  test('two parts are on their way at once, and none is asked for twice', async () => {
    using phone = openSlow({
      async part(own, send) {
        // A download of one part after the other would stand still here.
        if (own === 2 || own === 4)
          await eventually(() => expect(partsOf(phone).length).toBeGreaterThan(own));
        return send();
      },
    });
    await phone.catalog.load();
    await phone.agrees();
    const parts = partsOf(phone);
    expect(parts).toHaveLength(new Set(parts).size);
  });

  test('what came of a download that failed is kept, in memory and in the storage', async () => {
    const storage = memoryStorage();
    const limit = { parts: 2 };
    const options = { storage, part: partsUntil(limit) };
    const firstParts: unknown[] = [];
    {
      using phone = openSlow(options);
      for (const parts of [2, 1]) {
        limit.parts = parts;
        const former = partsOf(phone).length;
        await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
        firstParts.push(partsOf(phone)[former]);
      }
      expect([phone.catalog.size, beginnings(phone)]).toEqual([0, 1]);
      await untilKept(storage, 3);
    }
    limit.parts = 1_000;
    const told: LoadProgress[] = [];
    using again = openSlow(options);
    await again.catalog.load({ onProgress: (progress) => void told.push(progress) });
    expect(new Set([...firstParts, partsOf(again)[0]]).size).toBe(3);
    expect(beginnings(again)).toBe(0);
    expect(told[0]?.loaded).toBeGreaterThan(300);
    await again.agrees();
    await untilKept(storage, 5);
  });

  test('another account goes on with nothing of it', async () => {
    const limit = { parts: 2 };
    using phone = openSlow({ storage: memoryStorage(), part: partsUntil(limit) });
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
    await phone.signIn(PRO);
    limit.parts = 1_000;
    await phone.catalog.load();
    await phone.agrees();
    expect(beginnings(phone)).toBe(2);
  });
});

describe('a catalog that changes between two parts', () => {
  test('is one of the last version, and the parts that came are not fetched again', async () => {
    await using own = await startTestApp({ SANDBOX_INSTRUMENTS: '600' });
    let version = '';
    let changes = 0;
    using phone = openSlow({
      of: own,
      async part(at, send) {
        const response = await send();
        if (at > 2) return response;
        const { data } = (await response.clone().json()) as {
          data: { catalog: { version: string } };
        };
        await changeCatalog(own, { change: 40, add: 9, remove: 7 });
        changes += 1;
        ({ version } = await untilServed(own, version || data.catalog.version));
        return response;
      },
    });
    await phone.catalog.load();
    expect([changes, beginnings(phone)]).toEqual([2, 1]);
    await phone.catalog.sync();
    await phone.agrees();
  });

  test('is begun again where the server has forgotten the version', async () => {
    const limit = { parts: 1 };
    const token = app.sandbox.token({ email: 'demo@example.com' });
    const options = { token, variables: { since: 'forgotten' } };
    const forgotten = await app.query(catalogDocuments().changedIds, options);
    const part = partsUntil(limit);
    using phone = openSlow({
      async network({ name, variables }, send, signal) {
        if (name === PAGE) return part(0, send, signal);
        return name === IDS && variables.since !== '' ? Response.json(forgotten) : send();
      },
    });
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'NETWORK' });
    const former = partsOf(phone);
    limit.parts = 1_000;
    await phone.catalog.load();
    await phone.agrees();
    expect(partsOf(phone)[former.length]).toBe(former[0]);
  });

  test('again and again is given up', async () => {
    using phone = openSlow({
      part: async (own, send) => versioned(await send(), `version ${own}`),
    });
    await expect(phone.catalog.load()).rejects.toMatchObject({ code: 'PROTOCOL' });
    expect(partsOf(phone).length).toBeLessThan(30);
  });
});

describe('a line that nobody knows to be slow', () => {
  test.each([
    ['is lost', noNetwork],
    ['takes long', untilLeft],
  ])('is left for parts when the whole %s', async (_what, whole) => {
    using phone = openPhone(app, {
      hurry: (ms) => (ms <= 5_000 ? Math.min(ms, 10) : ms),
      network: ({ name }, send, signal) => (name === CATALOG ? whole(signal) : send()),
    });
    await phone.catalog.load();
    expect(phone.sentNamed(CATALOG)).toHaveLength(1);
    await phone.agrees();
    expect(phone.environment.pauses).toContain(5_000);
  });

  test('brings changes by their ids when they are lost', async () => {
    using phone = openPhone(app, {
      storage: memoryStorage(),
      network: ({ name, variables }, send) =>
        name === CATALOG && variables.since !== '' ? noNetwork() : send(),
    });
    await phone.catalog.load();
    await phone.catalog.sync();
    expect(phone.sentNamed('TradingGraphCatalogIds')).toHaveLength(1);
    await phone.agrees();
  });
});

describe('who waits for it', () => {
  test('leaves with a signal, which ends the download where nobody else waits', async () => {
    const release = Promise.withResolvers<void>();
    using phone = openSlow({
      part: (_own, send, signal) => Promise.race([untilLeft(signal), release.promise]).then(send),
    });
    const left = { code: 'ABORTED' };
    const loading = () => {
      const abort = new AbortController();
      const rejected = expect(phone.catalog.load({ signal: abort.signal })).rejects;
      return { abort: () => abort.abort(), rejected: rejected.toMatchObject(left) };
    };
    const alone = loading();
    await eventually(() => expect(partsOf(phone)).toHaveLength(2));
    alone.abort();
    await alone.rejected;
    await eventually(() => expect(phone.environment.timers.size).toBe(0));
    const again = phone.catalog.load({ signal: AbortSignal.abort() });
    await expect(again).rejects.toMatchObject(left);
    const [first, second] = [loading(), phone.catalog.load()];
    first.abort();
    await first.rejected;
    release.resolve();
    await second;
    await phone.agrees();
  });

  test('leaves after its time, and what came is taken up by the next', async () => {
    let isStuck = true;
    using phone = openSlow({
      hurry: (ms) => (ms === 5_000 ? 1_500 : ms),
      part: (own, send, signal) => (isStuck && own > 1 ? untilLeft(signal) : send()),
    });
    let told = 0;
    const onProgress = () => {
      told += 1;
    };
    const leaving = phone.catalog.load({ timeoutMs: 5_000, onProgress });
    await expect(leaving).rejects.toMatchObject({ code: 'NETWORK', retryable: true });
    isStuck = false;
    await phone.catalog.load();
    expect(told).toBe(1);
    await phone.agrees();
    expect(beginnings(phone)).toBe(1);
  });
});
