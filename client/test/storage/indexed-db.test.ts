import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeWithChromium } from '../../../test/support/describe-with.ts';
import { launchChromium } from '../../../test/support/launch-chromium.ts';
import { listenLocally } from '../../../test/support/local-server.ts';
import { startedForEach, startedOnce } from '../../../test/support/started.ts';
import { indexedDb } from '../../src/storage/indexed-db.ts';
import type { ClientStorage } from '../../src/storage.ts';
import { testStorageContract } from '../support/storage-contract.ts';

const SOURCE = join(import.meta.dirname, '../../src/storage/indexed-db.ts');
const PAGE = `<!doctype html><script type="module">
  import { indexedDb } from '/indexed-db.js';
  window.storage = indexedDb({ name: 'app' });
</script>`;

declare global {
  /** The properties that the page and the tests add. */
  interface Window {
    storage: Record<string, (...args: string[]) => Promise<unknown>>;
    durabilities: string[];
    isRefused: boolean;
    connection: IDBDatabase;
  }
}

/** Calls the adapter in a page. */
function remoteStorage(page: Page): ClientStorage {
  const call = (method: keyof ClientStorage, ...args: string[]) =>
    page.evaluate(({ method, args }) => window.storage[method]?.(...args), { method, args });
  return {
    get: async (key) => (await call('get', key)) as string | null,
    set: async (key, text) => void (await call('set', key, text)),
    delete: async (key) => void (await call('delete', key)),
    keys: async (prefix) => (await call('keys', prefix)) as string[],
  };
}

describeWithChromium('in a browser', (executablePath) => {
  const browser = startedOnce(() => launchChromium(executablePath));
  const context = startedForEach(() => browser.newContext());
  const server = startedOnce(async () => {
    const script = stripTypeScriptTypes(await readFile(SOURCE, 'utf8'));
    const pages = createServer((request, response) => {
      const isScript = request.url === '/indexed-db.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? script : PAGE);
    });
    return listenLocally(pages);
  });

  async function openPage(before: () => void = () => {}): Promise<Page> {
    const page = await context.newPage();
    await page.addInitScript(before);
    await page.goto(server.url);
    return page;
  }

  testStorageContract(async () => {
    const storage = remoteStorage(await openPage());
    return { storage, reopen: async () => remoteStorage(await openPage()) };
  });

  test('a write is on the disk before it is reported', async () => {
    const page = await openPage(() => {
      const begin = IDBDatabase.prototype.transaction;
      window.durabilities = [];
      IDBDatabase.prototype.transaction = function (...args) {
        const transaction = begin.apply(this, args);
        window.durabilities.push(transaction.durability);
        return transaction;
      };
    });
    await remoteStorage(page).set('key', 'text');
    expect(await page.evaluate(() => window.durabilities)).toEqual(['strict']);
  });

  test('another tab can delete the database, and the adapter creates it again', async () => {
    const [page, other] = [await openPage(), await openPage()];
    const storage = remoteStorage(page);
    await storage.set('key', 'text');
    const outcome = await other.evaluate(
      () =>
        new Promise((resolve) => {
          const request = indexedDB.deleteDatabase('app');
          request.onsuccess = () => resolve('deleted');
          request.onerror = () => resolve('failed');
        }),
    );
    expect(outcome).toBe('deleted');
    expect(await storage.get('key')).toBeNull();
    await storage.set('key', 'again');
    expect(await storage.get('key')).toBe('again');
  });

  test('each call rejects while the browser refuses the database, and a later call opens it', async () => {
    const page = await openPage(() => {
      window.isRefused = true;
      const factory = window.indexedDB;
      const open = () => {
        throw new DOMException('refused', 'SecurityError');
      };
      Object.defineProperty(window, 'indexedDB', {
        get: () => (window.isRefused ? { open } : factory),
      });
    });
    const storage = remoteStorage(page);
    await expect(storage.set('key', 'text')).rejects.toThrow('no database');
    await expect(storage.get('key')).rejects.toThrow('no database');
    await expect(storage.keys('')).rejects.toThrow('no database');
    await page.evaluate(() => {
      window.isRefused = false;
    });
    await storage.set('key', 'text');
    expect(await storage.get('key')).toBe('text');
  });

  test('a call rejects in time while another tab blocks the database, and a later call opens it', async () => {
    const other = await openPage();
    await other.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const request = indexedDB.open('app', 1);
          request.onupgradeneeded = () => request.result.createObjectStore('texts');
          request.onsuccess = () => {
            window.connection = request.result;
            // The deletion waits until this connection is closed, and later openers wait for the deletion.
            indexedDB.deleteDatabase('app').onblocked = () => resolve();
          };
        }),
    );
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(server.url);
    const storage = remoteStorage(page);
    const refused = expect(storage.set('key', 'text')).rejects.toThrow('in time');
    await page.clock.runFor(10_000);
    await refused;
    await other.evaluate(() => window.connection.close());
    await storage.set('key', 'text');
    expect(await storage.get('key')).toBe('text');
  });

  test('a write that the browser aborts rejects, and the former text stays', async () => {
    const page = await openPage(() => {
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...args) {
        const request = put.apply(this, args);
        if (args[0] === 'too much') this.transaction.abort();
        return request;
      };
    });
    const storage = remoteStorage(page);
    await storage.set('key', 'former');
    await expect(storage.set('key', 'too much')).rejects.toThrow('transaction failed');
    expect(await storage.get('key')).toBe('former');
  });

  test('if a transaction fails, the write is repeated on a new connection', async () => {
    const page = await openPage(() => {
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...args) {
        const request = put.apply(this, args);
        const { db } = this.transaction;
        window.connection ??= db;
        if (args[0] === 'again' && db === window.connection) this.transaction.abort();
        return request;
      };
    });
    const storage = remoteStorage(page);
    await storage.set('key', 'text');
    await storage.set('key', 'again');
    expect(await storage.get('key')).toBe('again');
  });
});

test.each([[{}], [{ name: '' }], ['trading']])(
  'options that do not name a database are refused at once: %j',
  (options) => {
    expect(() => indexedDb(options as never)).toThrow(TypeError);
  },
);
