/** What the first search costs a phone, and what stays in a store that is full. A part of `npm run bench -- lines`. */
import { browserEnvironment } from '../client/src/browser-environment.ts';
import { CatalogCopy } from '../client/src/catalog/catalog-copy.ts';
import { HeldCopy } from '../client/src/catalog/held-copy.ts';
import type { Core } from '../client/src/core.ts';
import { createClient } from '../client/src/create-client.ts';
import type { Instrument } from '../client/src/generated/rows.ts';
import { memoryStorage } from '../client/src/storage/memory.ts';
import type { ClientStorage } from '../client/src/storage.ts';
import type { Sandbox } from '../sandbox/start.ts';
import { eventually } from '../test/support/eventually.ts';

export const PHONES_HEAD = ['what', 'at once, as before', 'now'];

const FULL_CHARACTERS = 300_000;
const OWNER = { login: '700001', group: 'demo' };

export async function measurePhones(service: string, sandbox: Sandbox): Promise<string[][]> {
  const token = sandbox.token({ email: 'demo@example.com' });
  const storage = fullStorage();
  const client = createClient({
    url: `${service}/graphql`,
    token: () => token,
    storage,
    environment: { isSlowLine: () => true },
  });
  let stored = 0;
  await client.catalog.load({
    onProgress: async () => {
      stored = Math.max(stored, (await storage.keys('trading-graph:catalog')).length);
    },
  });
  await eventually(() => client.catalog.storageError !== null);
  const left = (await storage.keys('trading-graph:catalog')).length;
  const rows = [await firstSearch(client.catalog.all, 1), await firstSearch(client.catalog.all, 9)];
  client.dispose();
  return [
    ...rows,
    ['a store that is full: parts of a copy that stay', String(stored), String(left)],
  ];
}

/** The longest time for which the index of the first search keeps the phone from drawing. */
async function firstSearch(some: readonly Instrument[], times: number): Promise<string[]> {
  const rows = Array.from({ length: times }, (_, at) =>
    some.map((row) => ({ ...row, id: `${row.id}-${at}`, symbol: `${row.symbol}${at || ''}` })),
  ).flat();
  const byId = new Map(rows.map((row) => [row.id, row]));
  const once = new CatalogCopy('at once', byId);
  const startedAt = cpuMs();
  once.search.find('apple', 20);
  const atOnceMs = cpuMs() - startedAt;
  let longestMs = 0;
  let waiting = 0;
  const own = browserEnvironment();
  const environment = {
    ...own,
    after(ms: number, task: () => void) {
      waiting += 1;
      return own.after(ms, () => {
        const beganAt = cpuMs();
        waiting -= 1;
        task();
        longestMs = Math.max(longestMs, cpuMs() - beganAt);
      });
    },
  };
  const copy = new CatalogCopy('in pieces', byId);
  const core = { environment, login: null } as unknown as Core;
  new HeldCopy(core).hold({ owner: OWNER, copy, ageSeconds: 0, isConfirmed: true });
  await eventually(() => waiting === 0);
  const name = `${rows.length.toLocaleString('en')} instruments: the longest stop for the first search`;
  return [name, `${Math.round(atOnceMs)} ms`, `${Math.round(longestMs)} ms`];
}

/** Of this thread: by the clock other processes of a busy machine would count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/** As Android's AsyncStorage, which has room for so much. */
function fullStorage(): ClientStorage {
  const storage = memoryStorage();
  const sizes = new Map<string, number>();
  return {
    ...storage,
    async set(key, text) {
      sizes.delete(key);
      const used = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      if (used + text.length > FULL_CHARACTERS) throw new Error('database or disk is full');
      await storage.set(key, text);
      sizes.set(key, text.length);
    },
    async delete(key) {
      await storage.delete(key);
      sizes.delete(key);
    },
  };
}
