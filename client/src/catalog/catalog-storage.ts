import type { Environment } from '../environment.ts';
import { withinTime } from '../request/deadline.ts';
import type { ClientStorage } from '../storage.ts';
import type { Owner } from './catalog-copy.ts';
import { Download, type Step } from './download.ts';
import {
  type AgedCopy,
  ALL_PREFIXES,
  accountPrefix,
  fromText,
  ownerOf,
  stepKey,
  stepPrefix,
  stepToText,
  storageKey,
  takeStep,
  toText,
} from './stored-copy.ts';

// A catalog is rather fetched than waited for.
const READ_TIMEOUT_MS = 5_000;

/** A copy and whose it is. */
export interface OwnedCopy extends AgedCopy {
  readonly owner: Owner;
}

/** Keeps copies over restarts of the app. Only `forget` rejects: a copy that cannot be kept is fetched again. */
export class CatalogStorage {
  readonly #storage: ClientStorage;
  readonly #environment: Environment;
  readonly #fields: string;
  #saving: Promise<void> | null = null;
  #next: (() => Promise<void>) | null = null;
  /** The steps of a download are written in their order. */
  #steps: Promise<void> = Promise.resolve();
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
      const text = await this.#inTime(this.#storage.get(storageKey(owner)), signal);
      const aged = text === null ? null : fromText(owner, this.#fields, text);
      this.#readError = null;
      return aged;
    } catch (error) {
      if (!signal?.aborted) this.#readError = error;
      return null;
    }
  }

  /** The copy of an account whose group nobody has named yet. */
  async readAny(login: string): Promise<OwnedCopy | null> {
    const listing = this.#storage.keys(accountPrefix(login));
    const keys = await this.#inTime(listing).catch(() => []);
    for (const key of keys) {
      const owner = ownerOf(key);
      const aged = owner?.login === login ? await this.read(owner) : null;
      if (owner !== null && aged !== null) return { owner, ...aged };
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
        const reading = this.#storage.get(stepKey(owner, download.steps));
        const text = await this.#inTime(reading, signal);
        if (text === null || !takeStep(download, this.#fields, text)) break;
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
          await this.#storage.set(stepKey(owner, steps - 1), stepToText(owner, this.#fields, step));
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
    this.#next = null;
    await this.#inTime(Promise.all([this.#saving, this.#steps]));
    for (const prefix of ALL_PREFIXES) {
      const keys = await this.#inTime(this.#storage.keys(prefix));
      for (const key of keys) await this.#inTime(this.#storage.delete(key));
    }
  }

  /** Writes in the background, one copy after the other; of those that wait only the last one is written. */
  save(owner: Owner, aged: AgedCopy, onSaved: () => void): void {
    this.#next = async () => {
      const text = toText(owner, this.#fields, aged);
      const write = () => this.#storage.set(storageKey(owner), text);
      const removeSteps = () => this.#steps.then(() => this.#remove(stepPrefix(owner.login)));
      // The steps take as much room as the copy, which may be what a full store lacks.
      await write().catch(() => removeSteps().then(write));
      onSaved();
      // An account is in one group at a time, so that copies for another one are of no use.
      await this.#remove(accountPrefix(owner.login), storageKey(owner));
      await removeSteps();
      this.#saveError = null;
    };
    this.#saving ??= this.#saveAll();
  }

  async #saveAll(): Promise<void> {
    while (this.#next !== null) {
      const save = this.#next;
      this.#next = null;
      try {
        await save();
      } catch (error) {
        this.#saveError = error;
      }
    }
    this.#saving = null;
  }

  async #remove(prefix: string, kept?: string): Promise<void> {
    for (const key of await this.#storage.keys(prefix)) {
      if (key !== kept) await this.#storage.delete(key);
    }
  }

  #inTime<T>(reading: Promise<T>, signal?: AbortSignal): Promise<T> {
    return withinTime(this.#environment, READ_TIMEOUT_MS, signal, (time) => time.race(reading));
  }
}
