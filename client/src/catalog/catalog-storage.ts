import type { Environment } from '../environment.ts';
import { withinTime } from '../request/deadline.ts';
import type { ClientStorage } from '../storage.ts';
import { CatalogCopy, insertSorted, type Owner } from './catalog-copy.ts';
import { Download, type Step } from './download.ts';
import { divide } from './entries.ts';
import type { KeyFields } from './instrument.ts';
import {
  type AgedCopy,
  ALL_PREFIXES,
  accountPrefix,
  contentOf,
  type Entry,
  entryKey,
  entryOf,
  type Head,
  headOf,
  isStep,
  ownerOf,
  stepKey,
  stepPrefix,
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
  /** The steps of a download are written in their order. */
  #steps: Promise<void> = Promise.resolve();
  /** The head and entries of the copy that was last read or written, as the storage has them. */
  #kept = NOTHING;
  /** The download of which a step could not be written: what follows is of no use. */
  #refused: Download | null = null;
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
    const stale: string[] = [];
    let isWhole = true;
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
    return { copy: new CatalogCopy(version, all, byId, stale, isWhole), owner, ageSeconds, atMs };
  }

  /** The copy of an account whose group nobody has named yet. */
  async readAny(login: string): Promise<AgedCopy | null> {
    const listing = this.#storage.keys(accountPrefix(login));
    const keys = await this.#inTime(listing).catch(() => []);
    for (const key of keys) {
      const owner = ownerOf(key);
      const aged = owner?.login === login ? await this.read(owner) : null;
      if (aged !== null) return aged;
    }
    return null;
  }

  /** Whether anything of the account is kept, as far as the storage says. */
  async has(login: string, signal: AbortSignal): Promise<boolean> {
    const prefixes = [accountPrefix(login), stepPrefix(login)];
    const listing = Promise.all(prefixes.map(async (prefix) => this.#storage.keys(prefix)));
    const keys = await this.#inTime(listing, signal).catch(() => []);
    return keys.flat().length > 0;
  }

  /** The download that was interrupted; null where nothing is kept of one. */
  async readSteps(owner: Owner, signal: AbortSignal): Promise<Download | null> {
    const download = new Download(owner);
    try {
      for (;;) {
        const { step } = await this.#content(owner, stepKey(owner, download.steps), signal);
        if (!isStep(step) || !download.take(step)) break;
      }
    } catch {
      // The steps that were read before the failure are whole.
    }
    return download.steps === 0 ? null : download;
  }

  /** Writes the latest step of a download in the background; with null what is kept of an earlier one goes. */
  keepStep(download: Download, step: Step | null): void {
    const { owner, steps } = download;
    this.#steps = this.#steps
      .then(async () => {
        if (step === null) await this.#remove(stepPrefix(owner.login));
        else if (download !== this.#refused) {
          await this.#storage.set(stepKey(owner, steps - 1), toText(owner, this.#fields, { step }));
        }
      })
      .catch((error) => {
        this.#saveError = error;
        this.#refused = download;
        return this.#remove(stepPrefix(owner.login)).catch(() => {});
      });
  }

  /** Deletes all that is kept, of every account. Rejects where it may still be there. */
  async forget(): Promise<void> {
    this.#last = null;
    await this.#inTime(Promise.all([this.#saving, this.#steps]));
    this.#kept = NOTHING;
    for (const prefix of ALL_PREFIXES) {
      const keys = await this.#inTime(this.#storage.keys(prefix));
      for (const key of keys) await this.#inTime(this.#storage.delete(key));
    }
  }

  /** Writes in the background, one copy after the other; of those that wait only the last one is written. */
  save(aged: AgedCopy, onSaved: () => void): void {
    this.#last = aged;
    this.#saving = this.#saving
      .then(async () => {
        if (this.#last !== aged) return;
        await this.#write(aged);
        onSaved();
        this.#saveError = null;
      })
      .catch((error) => {
        this.#saveError = error;
      });
  }

  async #write({ owner, copy, ageSeconds, atMs }: AgedCopy): Promise<void> {
    await this.#steps;
    // The steps take as much room as the copy: one goes with each entry, and all where a full store has none left.
    const steps = [...(await this.#storage.keys(stepPrefix(owner.login)))];
    const removeSteps = async (most: number) => {
      for (const step of steps.splice(0, most)) await this.#storage.delete(step);
    };
    const put = async (key: string, content: Head | Entry) => {
      const write = () => this.#storage.set(key, toText(owner, this.#fields, content));
      await write().catch(() => removeSteps(steps.length).then(write));
    };
    const key = storageKey(owner);
    const known = this.#kept.key === key ? this.#kept.entries : [];
    const entries = divide(copy, known);
    const heads = entries.map(({ version, rows }) => ({ version, ids: rows.map(({ id }) => id) }));
    await put(key, { version: copy.version, ageSeconds, atMs, entries: heads });
    const kept = [...known];
    this.#kept = { key, entries: kept };
    // An account is in one group at a time, so that copies for another one are of no use.
    const keys = [key, ...entries.map((_entry, at) => entryKey(owner, at))];
    await this.#remove(accountPrefix(owner.login), new Set(keys));
    for (const [at, entry] of entries.entries()) {
      if (entry === known[at]) continue;
      await put(entryKey(owner, at), entry);
      kept[at] = entry;
      await removeSteps(1);
    }
    await removeSteps(steps.length);
  }

  async #remove(prefix: string, kept: ReadonlySet<string> = new Set()): Promise<void> {
    for (const key of await this.#storage.keys(prefix)) {
      if (!kept.has(key)) await this.#storage.delete(key);
    }
  }

  async #content(owner: Owner, key: string, signal?: AbortSignal) {
    const text: unknown = await this.#inTime(this.#storage.get(key), signal);
    if (text !== null && typeof text !== 'string') throw new TypeError('That is no text.');
    return contentOf(owner, this.#fields, text ?? '');
  }

  #inTime<T>(reading: Promise<T>, signal?: AbortSignal): Promise<T> {
    return withinTime(this.#environment, READ_TIMEOUT_MS, signal, (time) => time.race(reading));
  }
}
