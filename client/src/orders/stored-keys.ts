import { TradingGraphError } from '../errors.ts';
import { storageError } from '../request/failures.ts';
import { parseJson } from '../request/wire-result.ts';
import type { ClientStorage } from '../storage.ts';
import { timeOfKey } from './order-key.ts';
import type { Settled } from './outcome.ts';

const PREFIX = 'orders/';
/** The latest time that a `Date` can have, in milliseconds. */
const LATEST_DATE_MS = 8.64e15;

/** A key whose outcome is unknown, or may not have been shown. */
export interface StoredKey {
  readonly key: string;
  /** The digest of the input; null if the entry cannot be read. */
  readonly digest: string | null;
  /** When the key was first used, by this device's clock; null if the entry cannot be read. */
  readonly at: number | null;
  /** The time of the first use by the server's clock, at the earliest. */
  readonly made: number | null;
  /** The time until which the order may be sent, by the server's clock, in ISO 8601; left out if that clock was unknown. */
  readonly sendBefore?: string | undefined;
  /** How long the order can be sent, if that is not the default. */
  readonly maxWaitMs?: number | undefined;
  /** The outcome of the key's order. */
  readonly outcome?: Settled | undefined;
}

/**
 * The keys of orders whose outcome was not shown yet. Each key is an entry of its own, so that two tabs never write the
 * same entry. An entry has no amounts, no comment and no token. Rejects with a TradingGraphError whose code is `STORAGE`.
 */
export class StoredKeys {
  readonly #storage: ClientStorage;
  /** The kinds of access whose last attempt failed. */
  readonly #failing = new Set<'write' | 'list'>();

  constructor(storage: ClientStorage) {
    this.#storage = storage;
  }

  /** Whether the storage failed when it was last written to, or read. */
  get isRefusing(): boolean {
    return this.#failing.size > 0;
  }

  async add(account: string, { key, ...entry }: StoredKey): Promise<void> {
    // JSON does not include the message of an error.
    const whole = (_: string, value: unknown) =>
      value instanceof Error ? { ...value, message: value.message, cause: undefined } : value;
    const text = JSON.stringify(entry, whole);
    await this.#noted('write', () => this.#storage.set(nameOf(account, key), text));
  }

  async delete(account: string, key: string): Promise<void> {
    await guarded(() => this.#storage.delete(nameOf(account, key)));
  }

  /** The keys of one account. An entry that cannot be read still names its key. */
  async of(account: string): Promise<readonly StoredKey[]> {
    const prefix = nameOf(account, '');
    const names = await this.#noted('list', async () => [...(await this.#storage.keys(prefix))]);
    const entries = await Promise.all(
      names.map(async (name) => {
        // An entry that cannot be read still belongs to an order.
        const text = await guarded(() => this.#storage.get(name)).catch(() => '');
        return text === null ? [] : [parse(name.slice(prefix.length), text)];
      }),
    );
    return entries.flat();
  }

  /** Calls the storage, and notes whether it fails. */
  async #noted<T>(step: 'write' | 'list', call: () => Promise<T>): Promise<T> {
    try {
      const result = await guarded(call);
      this.#failing.delete(step);
      return result;
    } catch (error) {
      this.#failing.add(step);
      throw error;
    }
  }
}

function parse(key: string, text: string): StoredKey {
  const entry: Partial<StoredKey> = Object(parseJson(text));
  const { digest, at, made, sendBefore, maxWaitMs, outcome } = entry;
  // Text in another format was not written by this version.
  if (typeof digest !== 'string' || !isDate(at))
    return { key, digest: null, at: null, made: timeOfKey(key) };
  return {
    key,
    digest,
    at,
    made: isDate(made) ? made : timeOfKey(key),
    sendBefore: typeof sendBefore === 'string' ? sendBefore : undefined,
    maxWaitMs: typeof maxWaitMs === 'number' ? maxWaitMs : undefined,
    outcome: outcome?.idempotencyKey === key ? revived(outcome) : undefined,
  };
}

/** Turns the error of an outcome back into an instance of its class. Undefined for anything but an outcome. */
function revived(outcome: Settled): Settled | undefined {
  const { status } = outcome;
  if (status === 'accepted' || status === 'rejected') return outcome;
  if (status !== 'unsent' || typeof outcome.error?.message !== 'string') return undefined;
  const { error } = outcome;
  return { ...outcome, error: new TradingGraphError(error.message, error) };
}

function isDate(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= LATEST_DATE_MS;
}

function nameOf(account: string, key: string): string {
  return `${PREFIX}${encodeURIComponent(account)}/${key}`;
}

async function guarded<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw storageError('The device cannot keep the keys of orders.', cause);
  }
}
