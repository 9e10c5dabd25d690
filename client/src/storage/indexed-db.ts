import type { ClientStorage } from '../storage.ts';

/** The options of `indexedDb()`. */
export interface IndexedDbOptions {
  /** The name of the database, which should be the app's own. */
  readonly name: string;
}

const STORE = 'texts';
const VERSION = 1;
// Some versions of Safari never answer a first `open`.
const OPEN_TIMEOUT_MS = 10_000;

/**
 * Keeps texts in a database of the browser, which is opened at its first use. All tabs of the origin share it. If the
 * browser refuses the database, as some do in private windows, each call rejects. Throws a TypeError if the name is missing.
 */
export function indexedDb({ name }: IndexedDbOptions): ClientStorage {
  // A missing name would open a database that is called `undefined`.
  if (typeof name !== 'string' || name === '') {
    throw new TypeError("indexedDb({ name }): the name must be a text, as in { name: 'trading' }.");
  }
  const database = new Database(name);
  return {
    async get(key) {
      const text = await database.run('readonly', (texts) => texts.get(key));
      return typeof text === 'string' ? text : null;
    },
    async set(key, text) {
      await database.run('readwrite', (texts) => texts.put(text, key));
    },
    async delete(key) {
      await database.run('readwrite', (texts) => texts.delete(key));
    },
    async keys(prefix) {
      const keys = await database.run('readonly', (texts) =>
        texts.getAllKeys(IDBKeyRange.lowerBound(prefix)),
      );
      return keys.filter((key) => typeof key === 'string').filter((key) => key.startsWith(prefix));
    },
  };
}

class Database {
  readonly #name: string;
  #opening: Promise<IDBDatabase> | null = null;

  constructor(name: string) {
    this.#name = name;
  }

  async run<T>(
    mode: IDBTransactionMode,
    request: (texts: IDBObjectStore) => IDBRequest<T>,
  ): Promise<T> {
    const opening = this.#open();
    const database = await opening;
    try {
      return await runOn(database, mode, request);
    } catch {
      // The browser may close a connection without an event: then its transactions fail.
      if (this.#opening === opening) this.#opening = null;
      database.close();
      return runOn(await this.#open(), mode, request);
    }
  }

  #open(): Promise<IDBDatabase> {
    if (this.#opening !== null) return this.#opening;
    const forget = () => {
      if (this.#opening === opening) this.#opening = null;
    };
    const opening = openDatabase(this.#name, forget);
    this.#opening = opening;
    opening.catch(forget);
    return opening;
  }
}

/** Runs a transaction, and resolves when it is complete. A completed write is on the disk. */
function runOn<T>(
  database: IDBDatabase,
  mode: IDBTransactionMode,
  request: (texts: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // By default Chrome reports a write as complete before it is on the disk.
    const transaction = database.transaction(STORE, mode, { durability: 'strict' });
    const failed = () =>
      reject(storageError('The database transaction failed.', transaction.error));
    transaction.onabort = failed;
    transaction.onerror = failed;
    const sent = request(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(sent.result);
  });
}

function openDatabase(name: string, onClosed: () => void): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    let isOver = false;
    const fail = (reason: string, cause?: unknown) => {
      isOver = true;
      clearTimeout(timer);
      reject(storageError(reason, cause));
    };
    const timer = setTimeout(() => fail('The database did not open in time.'), OPEN_TIMEOUT_MS);
    try {
      const request = indexedDB.open(name, VERSION);
      request.onupgradeneeded = () => request.result.createObjectStore(STORE);
      request.onblocked = () => fail('The database is blocked by another tab.');
      request.onerror = () => fail('The database cannot be opened.', request.error);
      request.onsuccess = () => {
        const database = request.result;
        if (isOver) return database.close();
        clearTimeout(timer);
        // An open connection would block another tab that deletes or upgrades the database.
        database.onversionchange = () => {
          database.close();
          onClosed();
        };
        database.onclose = onClosed;
        resolve(database);
      };
    } catch (thrown) {
      fail('There is no database here.', thrown);
    }
  });
}

function storageError(message: string, cause: unknown): Error {
  return new Error(message, cause === undefined ? {} : { cause });
}
