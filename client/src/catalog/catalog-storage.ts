import type { Environment } from '../environment.ts';
import type { ClientStorage } from '../storage.ts';
import {
  type AgedCopy,
  accountPrefix,
  fromText,
  type Owner,
  storageKey,
  toText,
} from './stored-copy.ts';

// A catalog is rather fetched than waited for.
const READ_TIMEOUT_MS = 5_000;

/** Keeps copies over restarts of the app. It never rejects: a copy that cannot be kept is fetched again. */
export class CatalogStorage {
  readonly #storage: ClientStorage;
  readonly #environment: Environment;
  readonly #fields: string;
  #saving: Promise<void> | null = null;
  #next: (() => Promise<void>) | null = null;
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

  async read(owner: Owner, signal: AbortSignal): Promise<AgedCopy | null> {
    try {
      const text = await this.#inTime(this.#storage.get(storageKey(owner)), signal);
      const aged = text === null ? null : fromText(owner, this.#fields, text);
      this.#readError = null;
      return aged;
    } catch (error) {
      if (!signal.aborted) this.#readError = error;
      return null;
    }
  }

  /** Writes in the background, one copy after the other; of those that wait only the last one is written. */
  save(owner: Owner, aged: AgedCopy, onSaved: () => void): void {
    this.#next = async () => {
      await this.#storage.set(storageKey(owner), toText(owner, this.#fields, aged));
      onSaved();
      await this.#removeOthers(owner);
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

  /** An account is in one group at a time, so that copies for another one are of no use. */
  async #removeOthers(owner: Owner): Promise<void> {
    const own = storageKey(owner);
    for (const key of await this.#storage.keys(accountPrefix(owner.login))) {
      if (key !== own) await this.#storage.delete(key);
    }
  }

  #inTime<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error('The storage does not answer.'));
      const cancel = this.#environment.after(READ_TIMEOUT_MS, giveUp);
      // Or the timer would outlive a client that is disposed meanwhile.
      signal.addEventListener('abort', () => {
        cancel();
        giveUp();
      });
      reading.then(resolve, reject).finally(cancel);
    });
  }
}
