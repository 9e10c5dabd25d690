import type { TradingGraphError } from '../errors.ts';
import { type Deadline, MAX_MS, withinTime } from '../request/deadline.ts';
import { lateError, networkError, storageError } from '../request/failures.ts';
import { pause } from '../request/pause.ts';
import type { SignIn } from '../sign-in.ts';
import {
  ageOf,
  datedStamp,
  ERROR_MS,
  elapsedMs,
  type KeyAge,
  type KeyStamp,
  MAX_LIFE_MS,
  momentOf,
  stampNow,
} from './key-age.ts';
import type { Settled } from './outcome.ts';
import type { StoredKey, StoredKeys } from './stored-keys.ts';
import type { TicketOptions } from './ticket.ts';
import type { TicketContext } from './ticket-context.ts';

/** A storage is not waited for longer where the app does without it. */
const VOLATILE_AFTER_MS = 1_000;
/** An app that is killed right after it was told has not shown the outcome yet: the next run tells it once more. */
const SEEN_AFTER_MS = 1_000;
const UNDATED =
  'The order was not sent, because no answer of the server tells its time: the headers `Date` and `X-Request-Id` are missing.';
const UNUSED: KeyStamp = { at: null, up: 0, made: null };

/** A key that was used in an earlier run of the app. */
export interface UsedKey {
  readonly account: string;
  readonly stored: StoredKey;
  readonly stamp: KeyStamp;
}

/** The entry of a key in storage, which may be there or on its way there. */
interface Entry {
  readonly keys: StoredKeys;
  readonly account: string;
  readonly stored: StoredKey;
}

/** The key of an order: whose it is, when it was first used, and whether the device keeps it. */
export class OrderKey {
  readonly key: string;
  /** How long the order may be sent, where the app says it. */
  readonly maxWaitMs: number | undefined;
  /** The sign-in at the tap, whose login the first attempt finds; null before, and again where nothing was sent. */
  signIn: SignIn | null = null;
  /** The sign-in of the last tap, also where nothing was sent. */
  owner: SignIn | null = null;
  /** The login that the client knew at the tap. */
  #knownLogin: string | null = null;
  /** The digest of the input that the key stands for; null while it may be any. */
  digest: string | null = null;
  /** Whether a request whose outcome is not known has been sent. */
  isInDoubt = false;
  /** Whether the app has given it: another request may have been the first with it, at a time that nobody here knows. */
  readonly isGiven: boolean;
  readonly #context: TicketContext;
  #stamp = UNUSED;
  #entry: Entry | null = null;
  /** Whether its own entry is in storage; null while nothing was stored. */
  #isStored: boolean | null = null;
  /** Null before the first request with the key. */
  #made: { readonly keyMade: string | undefined } | null = null;
  /** Resolves when nothing of it is being written any more. */
  #written: Promise<unknown> = Promise.resolve();
  /** Another one with each use of the key, and when its outcome was seen. */
  #use = {};

  constructor(context: TicketContext, key: string, used: UsedKey | TicketOptions) {
    this.#context = context;
    this.key = key;
    const { maxWaitMs } = 'stored' in used ? used.stored : used;
    this.maxWaitMs = waitOf(maxWaitMs);
    this.isGiven = 'idempotencyKey' in used && used.idempotencyKey !== undefined;
    this.isInDoubt = this.isGiven;
    if (this.isGiven) this.leaveOutKeyMade();
    if (!('stored' in used)) return;
    const { keys } = context;
    const { account, stored, stamp } = used;
    this.belongsTo(account);
    // Where it cannot be read no input is known to be the same.
    this.digest = stored.digest ?? '';
    this.isInDoubt = true;
    this.#stamp = stamp;
    this.#made = { keyMade: stored.keyMade };
    this.#entry = keys && { keys, account, stored };
    this.#isStored = true;
  }

  belongsTo(login: string): void {
    this.signIn = { login };
    this.owner = this.signIn;
  }

  get account(): string | null {
    return this.signIn?.login ?? null;
  }

  /** The login of the order's owner, as far as that is known by now. */
  get login(): string | null {
    return this.owner?.login ?? this.#knownLogin;
  }

  get isDurable(): boolean {
    const { keys } = this.#context;
    return keys !== null && (this.#isStored ?? !keys.isRefusing);
  }

  /** When it was first used, by the clock on the wall, in ISO 8601. */
  get sentAt(): string {
    const at = this.#stamp.at ?? this.#entry?.stored.at ?? this.#context.core.environment.now();
    return new Date(at).toISOString();
  }

  /** How long the order may still be sent, where it may for so long at most. */
  leftMs(maxWaitMs: number): number {
    const usedForMs = elapsedMs(this.#stamp, this.#context.core);
    return Math.max(0, Math.min(maxWaitMs, MAX_LIFE_MS) - usedForMs);
  }

  /**
   * Notes at the tap whose the order is, and starts the clock of the key, because the user waits from then on, whether or
   * not the order can be sent yet.
   */
  use(former?: SignIn | null): void {
    this.#use = {};
    this.noteOwner(former);
    this.signIn = this.owner;
    if (this.#stamp === UNUSED) this.#stamp = stampNow(this.#context.core);
  }

  noteOwner(former?: SignIn | null): void {
    const { core } = this.#context;
    this.owner = this.signIn ?? former ?? core.signIn;
    this.#knownLogin = core.login;
  }

  /** Forgets the use of the key: nothing was sent, so the form may be corrected, or be sent by another user. */
  reset(): void {
    this.digest = null;
    this.signIn = null;
    this.#stamp = UNUSED;
    this.#isStored = null;
  }

  get age(): KeyAge {
    return ageOf(this.#stamp, this.#context.core);
  }

  /** Since when the server would have to know of an order with it, by the server's clock; undefined where that is not known. */
  get since(): string | undefined {
    return this.isGiven ? undefined : momentOf(this.#stamp, -ERROR_MS);
  }

  /** Until when the order may be sent, by the server's clock; undefined where that is not known. */
  sendBefore(maxWaitMs: number): string | undefined {
    return this.#stamp.isEarly
      ? undefined
      : momentOf(this.#stamp, Math.min(maxWaitMs, MAX_LIFE_MS));
  }

  /**
   * When the key was made, by the server's clock; undefined where that was not known. A key counts as made at the tap
   * whose request is the first with it, since until then it exists in this app alone. So an order that was sent at T has a
   * `keyMade` of T at the latest:
   * - one value is fixed before that request is sent, and none is added to a key that was sent without: neither a later tap
   *   nor a clock that is known better by then moves it;
   * - it is the server's time at the earliest, less the time since the tap by the clock that says more. Where both of the
   *   device's clocks lost time in between, it is still no later than the server's time at this moment, before the request;
   * - it is never the device's own time: where no answer has told the server's, nothing is sent.
   */
  get keyMade(): string | undefined {
    return this.#made?.keyMade;
  }

  /** A server that refuses it takes the order without it, as one of an earlier client, and not after a gap. */
  leaveOutKeyMade(): void {
    this.#made = { keyMade: undefined };
  }

  /** Keeps the key while its order waits for the server's time: the next run knows that it never left this device. */
  storeUnsent(account: string, maxWait: number, attempt: Deadline): Promise<void> {
    return this.#store(account, maxWait, attempt, true);
  }

  /**
   * Keeps the key, with the server's time, before anything is sent: an order that nobody remembers must not exist, and of one
   * without a date nobody could ever say that it was not sent.
   */
  async store(account: string, maxWait: number, attempt: Deadline): Promise<void> {
    const { core } = this.#context;
    this.#stamp = datedStamp(this.#stamp, core);
    if (this.#stamp.made === null) throw networkError(UNDATED);
    this.#made ??= { keyMade: momentOf(this.#stamp, 0) };
    await this.#store(account, maxWait, attempt, false);
  }

  async #store(
    account: string,
    maxWait: number,
    attempt: Deadline,
    unsent: boolean,
  ): Promise<void> {
    const { core, keys, allowVolatile, underWay } = this.#context;
    if (keys === null || (allowVolatile && this.#isStored === false)) return;
    const { key, digest, maxWaitMs } = this;
    const entry = {
      keys,
      account,
      stored: {
        key,
        digest,
        at: this.#stamp.at,
        made: this.#stamp.made,
        keyMade: this.keyMade,
        sendBefore: this.sendBefore(maxWait),
        maxWaitMs,
        unsent: unsent || undefined,
      },
    };
    const wasUnsent = this.#entry?.stored.unsent === true;
    this.#entry = entry;
    const storing = this.#written.then(() => keys.add(account, entry.stored));
    // If the write ends after the order was given up, `resume` would find a key whose order was never sent: it is deleted.
    const whenStored = () => {
      if (!underWay.has(key) && !this.isInDoubt) this.#delete(entry).catch(() => {});
    };
    storing.then(whenStored, () => {});
    const patienceMs = allowVolatile ? VOLATILE_AFTER_MS : attempt.remainingMs;
    try {
      await withinTime(core.environment, patienceMs, attempt.signal, (time) => time.race(storing));
      this.#isStored = true;
    } catch (cause) {
      // It was stored before: the time was over, and the storage is not to blame.
      if (this.#isStored && attempt.remainingMs === 0) throw outOfTime();
      this.#isStored ??= false;
      // The entry may still say that nothing was sent.
      if (allowVolatile && !wasUnsent) return;
      throw storageError('The order was not sent, because this device cannot keep its key.', cause);
    }
  }

  /** Keeps what was stored, with the outcome, until the app has surely seen it. */
  async settle(outcome: Settled): Promise<void> {
    const { core, underWay, disposal } = this.#context;
    const [entry, use] = [this.#entry, this.#use];
    this.isInDoubt = false;
    if (entry !== null && this.#isStored) {
      const writing = entry.keys.add(entry.account, { ...entry.stored, outcome });
      this.#written = writing.catch(() => {});
      await pause(core.environment, SEEN_AFTER_MS, disposal);
      if (disposal.aborted || use !== this.#use) return;
    }
    // One that stays behind is told of once more, and deleted, by the next `resume`.
    await this.forget().catch(() => {});
    underWay.delete(this.key);
  }

  /** Deletes what was stored, or is being stored. Rejects where the storage fails. */
  async forget(): Promise<void> {
    const entry = this.#entry;
    this.#use = {};
    if (entry === null) return;
    await this.#delete(entry);
    if (this.#entry === entry) this.#entry = null;
  }

  async #delete({ keys, account, stored }: Entry): Promise<void> {
    await this.#written;
    await keys.delete(account, stored.key);
  }
}

export function outOfTime(): TradingGraphError {
  return lateError(undefined, 'The order could not be sent in time.');
}

/** Storage would keep a wait without end as none. */
function waitOf(ms: number | undefined): number | undefined {
  return ms == null || Number.isNaN(Number(ms)) ? undefined : Math.min(ms, MAX_MS);
}
