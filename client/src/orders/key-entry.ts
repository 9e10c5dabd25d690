import { fireAndForget } from '../fire-and-forget.ts';
import { type Deadline, withinTime } from '../request/deadline.ts';
import { lateError, storageError } from '../request/failures.ts';
import { pause } from '../request/pause.ts';
import type { Settled } from './outcome.ts';
import type { StoredKey, StoredKeys } from './stored-keys.ts';
import type { TicketContext } from './ticket-context.ts';

/** The longest time for which an app with `allowVolatile` waits for its storage. */
const VOLATILE_AFTER_MS = 1_000;
/** An outcome counts as shown after this time. If the app is killed before, `resume` returns the order again. */
const SHOWN_AFTER_MS = 1_000;

/** The last value that was stored, or is being written. */
interface Written {
  readonly keys: StoredKeys;
  readonly account: string;
  readonly stored: StoredKey;
}

/** The entry of one order's key in storage. */
export class KeyEntry {
  readonly #context: TicketContext;
  #latest: Written | null = null;
  /** Whether the key was stored; null before the first attempt. */
  #isStored: boolean | null = null;
  /** Resolves when no write of an outcome is under way. */
  #written: Promise<unknown> = Promise.resolve();
  /** A new object for each use of the key, so that the end of an earlier use does not delete the entry. */
  #use = {};

  constructor(context: TicketContext) {
    this.#context = context;
  }

  /** Takes over an entry that was stored before the app ended. */
  adopt(account: string, stored: StoredKey): void {
    const { keys } = this.#context;
    this.#latest = keys && { keys, account, stored };
    this.#isStored = true;
  }

  get isDurable(): boolean {
    const { keys } = this.#context;
    return keys !== null && (this.#isStored ?? !keys.isRefusing);
  }

  /** When the key was first used, as stored; null if unknown. */
  get usedAt(): number | null {
    return this.#latest?.stored.at ?? null;
  }

  beginUse(): void {
    this.#use = {};
  }

  /** Resets the entry after a use in which nothing was sent. */
  reset(): void {
    this.#isStored = null;
  }

  /**
   * Stores the key. If the storage fails, throws a TradingGraphError, so that the order is not sent. If the write ends
   * only after the order was given up, and the key is not needed, the entry is deleted.
   */
  async write(
    account: string,
    stored: StoredKey,
    attempt: Deadline,
    isNeeded: () => boolean,
  ): Promise<void> {
    const { core, keys, allowVolatile } = this.#context;
    if (keys === null || (allowVolatile && this.#isStored === false)) return;
    const former = this.#latest;
    const entry = { keys, account, stored };
    this.#latest = entry;
    const storing = this.#written.then(() => keys.add(account, stored));
    // Nothing was sent under the former key, so the next run need not ask about it.
    if (former !== null && former.stored.key !== stored.key)
      fireAndForget(storing.then(() => this.#delete(former)));
    const cleaned = storing.then(() => (isNeeded() ? undefined : this.#delete(entry)));
    fireAndForget(cleaned);
    const maxMs = allowVolatile ? VOLATILE_AFTER_MS : attempt.remainingMs;
    try {
      await withinTime(core.environment, maxMs, attempt.signal, (time) => time.race(storing));
      this.#isStored = true;
    } catch (cause) {
      // The key was stored before, so only the time is over: the storage has not failed.
      if (this.#isStored && attempt.remainingMs === 0) throw outOfTime();
      this.#isStored ??= false;
      if (allowVolatile) return;
      throw storageError('The order was not sent, because this device cannot keep its key.', cause);
    }
  }

  /** Stores the outcome, if the key has one, and deletes the entry once the app has surely shown how the use ended. */
  async end(key: string, outcome?: Settled): Promise<void> {
    const { core, underWay, disposal } = this.#context;
    const [entry, use] = [this.#latest, this.#use];
    if (entry !== null && this.#isStored) {
      if (outcome !== undefined) {
        const writing = entry.keys.add(entry.account, { ...entry.stored, outcome });
        this.#written = writing.catch(() => {});
      }
      await pause(core.environment, SHOWN_AFTER_MS, disposal);
      if (disposal.aborted || use !== this.#use) return;
    }
    // If the deletion fails, the next `resume` returns the order once more, and deletes the entry.
    await this.forget().catch(() => {});
    underWay.delete(key);
  }

  /** Deletes the entry. Rejects if the storage fails. */
  async forget(): Promise<void> {
    const entry = this.#latest;
    this.#use = {};
    if (entry === null) return;
    await this.#delete(entry);
    if (this.#latest === entry) this.#latest = null;
  }

  async #delete({ keys, account, stored }: Written): Promise<void> {
    await this.#written;
    await keys.delete(account, stored.key);
  }
}

export function outOfTime(): Error {
  return lateError(undefined, 'The order could not be sent in time.');
}
