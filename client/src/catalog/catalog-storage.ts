import type { Environment } from '../environment.ts';
import { withinTime } from '../request/deadline.ts';
import type { ClientStorage } from '../storage.ts';
import { CatalogCopy, insertSorted, type Owner } from './catalog-copy.ts';
import { divide } from './entries.ts';
import type { KeyFields } from './instrument.ts';
import {
  type AgedCopy,
  ANY_PREFIX,
  accountPrefix,
  contentOf,
  type Entry,
  entryKey,
  entryOf,
  type Head,
  headOf,
  ownerOf,
  storageKey,
  toText,
} from './stored-copy.ts';

// A catalog is rather fetched than waited for.
const READ_TIMEOUT_MS = 5_000;
const NOTHING = { key: '', entries: [] as readonly (Entry | null)[] };

/**
 * Keeps copies over restarts of the app, in pieces that never stop it for long. One takes the place of the one before, because
 * both may not fit: its head is written first, and an entry that is not as the head says was not reached, and is fetched again.
 * Only `forget` rejects: a copy that cannot be kept is fetched again as well.
 */
export class CatalogStorage {
  readonly #storage: ClientStorage;
  readonly #environment: Environment;
  readonly #fields: string;
  #saving: Promise<void> = Promise.resolve();
  /** The last copy to be written. */
  #last: AgedCopy | null = null;
  /** The copy that was last read or written. */
  #stored: CatalogCopy<KeyFields> | null = null;
  /** The head and entries of the copy that was last read or written, as the storage has them. */
  #kept = NOTHING;
  #readError: unknown = null;
  #saveError: unknown = null;

  constructor(storage: ClientStorage, environment: Environment, fields: readonly string[]) {
    this.#storage = storage;
    this.#environment = environment;
    this.#fields = fields.join(' ');
  }

  /** The last failure of what has not succeeded since. */
  get error(): unknown {
    return this.#readError ?? this.#saveError;
  }

  async read(owner: Owner, signal?: AbortSignal): Promise<AgedCopy | null> {
    try {
      const head = headOf(await this.#content(owner, storageKey(owner), signal));
      const aged = head && (await this.#readEntries(owner, head, signal));
      this.#readError = null;
      return aged;
    } catch (error) {
      if (!signal?.aborted) this.#readError = error;
      return null;
    }
  }

  /** Null where nothing is there but the head. */
  async #readEntries(owner: Owner, head: Head, signal?: AbortSignal): Promise<AgedCopy | null> {
    const { version, ageSeconds, atMs } = head;
    const kept: (Entry | null)[] = [];
    const all: KeyFields[] = [];
    const byId = new Map<string, KeyFields>();
    const stale = [...head.stale];
    let isWhole = stale.length === 0;
    for (const [at, { version: written, ids }] of head.entries.entries()) {
      const entry = entryOf(await this.#content(owner, entryKey(owner, at), signal));
      const hasIds = ids.every((id, of) => entry?.rows[of]?.id === id);
      const isOfHead = entry?.version === written && entry.rows.length === ids.length && hasIds;
      // Each instrument of an entry of another version is whole: they serve until they are fetched anew.
      const rows = (entry?.rows ?? []).filter(({ id }) => isOfHead || ids.includes(id));
      for (const row of rows) byId.set(row.id, row);
      insertSorted(all, rows);
      kept.push(isOfHead ? entry : null);
      if (!isOfHead) stale.push(...ids);
      isWhole &&= isOfHead || (entry !== null && entry.version !== written);
    }
    if (all.length === 0) return null;
    this.#kept = { key: storageKey(owner), entries: kept };
    this.#stored = new CatalogCopy(version, all, byId, stale, isWhole);
    return { copy: this.#stored, owner, ageSeconds, atMs };
  }

  /** The copy of an account whose group nobody has named yet. */
  async readAny(login: string): Promise<AgedCopy | null> {
    for (const key of await this.#keysOf(login)) {
      const owner = ownerOf(key);
      const aged = owner?.login === login ? await this.read(owner) : null;
      if (aged !== null) return aged;
    }
    return null;
  }

  /** Whether anything of the account is kept, as far as the storage says. */
  async has(login: string, signal: AbortSignal): Promise<boolean> {
    return (await this.#keysOf(login, signal)).length > 0;
  }

  async #keysOf(login: string, signal?: AbortSignal): Promise<readonly string[]> {
    const listing = this.#inTime(() => this.#storage.keys(accountPrefix(login)), signal);
    return [...(await listing.catch(() => []))];
  }

  /** Deletes all that is kept, of every account. Rejects where it may still be there. */
  async forget(): Promise<void> {
    this.#last = null;
    await this.#inTime(() => this.#saving);
    this.#kept = NOTHING;
    this.#stored = null;
    const keys = await this.#inTime(() => this.#storage.keys(ANY_PREFIX));
    for (const key of keys) await this.#inTime(() => this.#storage.delete(key));
  }

  /** Writes in the background, one copy after the other; of those that wait only the last one is written. It never rejects. */
  save(aged: AgedCopy): Promise<void> {
    this.#last = aged;
    this.#saving = this.#saving
      .then(async () => {
        if (this.#last !== aged || this.#stored === aged.copy) return;
        await this.#write(aged);
        this.#stored = aged.copy;
        this.#saveError = null;
      })
      .catch((error) => {
        this.#saveError = error;
      });
    return this.#saving;
  }

  async #write({ owner, copy, ageSeconds, atMs }: AgedCopy): Promise<void> {
    const put = (at: string, content: Head | Entry) =>
      this.#storage.set(at, toText(owner, this.#fields, content));
    const key = storageKey(owner);
    const known = this.#kept.key === key ? this.#kept.entries : [];
    const entries = divide(copy, known);
    const heads = entries.map(({ version, rows }) => ({ version, ids: rows.map(({ id }) => id) }));
    const { version, stale } = copy;
    await put(key, { version, ageSeconds, atMs, entries: heads, stale });
    const kept = [...known];
    this.#kept = { key, entries: kept };
    // An account is in one group at a time, so that copies for another one are of no use.
    const keys = [key, ...entries.map((_entry, at) => entryKey(owner, at))];
    for (const former of await this.#storage.keys(accountPrefix(owner.login))) {
      if (!keys.includes(former)) await this.#storage.delete(former);
    }
    for (const [at, entry] of entries.entries()) {
      if (entry === known[at]) continue;
      await put(entryKey(owner, at), entry);
      kept[at] = entry;
    }
  }

  async #content(owner: Owner, key: string, signal?: AbortSignal) {
    const text: unknown = await this.#inTime(() => this.#storage.get(key), signal);
    if (text !== null && typeof text !== 'string') throw new TypeError('That is no text.');
    return contentOf(owner, this.#fields, text ?? '');
  }

  #inTime<T>(read: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    return withinTime(this.#environment, READ_TIMEOUT_MS, signal, (time) => time.race(read()));
  }
}
