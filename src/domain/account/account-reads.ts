import type { OperationName } from '../../gateway/operations.ts';
import { ACCOUNT, type Account } from '../../lib/account.ts';
import { growingLru } from '../../lib/caches.ts';
import { type LogicalClock, steadyClock } from '../../lib/clock.ts';
import type { AccountVersions } from '../../store/shared-store.ts';
import type { Viewer } from '../auth/viewer.ts';

const ACCOUNTS = { maxEntries: 100_000, entryBytes: 220 };

/** A call under way. When the call ends, null replaces its answer. */
interface JoinableCall {
  readonly account: Account;
  readonly logicalTime: number;
  answer: Promise<unknown> | null;
}

type Send<T> = (viewer: Viewer) => Promise<T>;

interface Demand {
  readonly after?: number;
  readonly request?: string;
}

/**
 * Concurrent reads of one token share one gateway call, which runs to its end even if its client has left: the client's next
 * attempt may join it. A read joins no call that began before the account's last write was answered, so a client that reads
 * after a write gets data from after it.
 *
 * Orders also outdate what is in memory, at this or another replica. A read from memory first catches up with the other
 * replicas. A new call needs no catch-up: its answer is newer than any earlier order.
 */
export class AccountReads {
  readonly #logicalClock: LogicalClock;
  readonly #versions: AccountVersions | null;
  readonly #onChanged: (account: Account) => void;
  /** The calls under way that a read can join, by operation, token and request. */
  readonly #calls = new Map<string, JoinableCall>();
  readonly #changes = new Watermarks();
  /** The last version seen of each account that has one. */
  readonly #seen = growingLru<Account, string>(ACCOUNTS);
  #lastEpoch: string | null = null;

  /** `versions` is null if no other process serves the accounts. `onChanged` is called after each change by an order. */
  constructor(
    clock: LogicalClock,
    versions: AccountVersions | null = null,
    onChanged: (account: Account) => void = () => {},
  ) {
    this.#logicalClock = clock;
    this.#versions = versions;
    this.#onChanged = onChanged;
  }

  get byteSize(): number {
    return this.#seen.calculatedSize + this.#changes.byteSize;
  }

  isReading({ tokenHash }: Viewer, operation: OperationName): boolean {
    return this.#calls.has(callKey(operation, tokenHash));
  }

  /** `after`: only a call that began after this logical time is joined. `request` distinguishes reads of one operation. */
  read<T>(
    viewer: Viewer,
    operation: OperationName,
    send: Send<T>,
    demand: Demand = {},
  ): Promise<T> {
    const { tokenHash, [ACCOUNT]: account } = viewer;
    const after = Math.max(demand.after ?? 0, this.changedAt(account));
    const key = callKey(operation, tokenHash, demand.request);
    const joined = this.#calls.get(key);
    if (joined === undefined || joined.logicalTime <= after) return this.#begin(key, viewer, send);
    const startedAtMs = steadyClock.now();
    return (joined.answer as Promise<T>).finally(() => {
      viewer.receipt?.({ operation, ms: steadyClock.now() - startedAtMs, source: 'shared' });
    });
  }

  /** Called when a write of the account was answered, or an order has changed it. Later reads do not join earlier calls. */
  written(account: Account): void {
    for (const [key, call] of this.#calls) {
      if (call.account === account) this.#calls.delete(key);
    }
  }

  /** An order has changed the account, or may have changed it. Answers to earlier calls are outdated. */
  changed(account: Account): void {
    this.#changes.set(account, { logicalTime: this.#logicalClock.next() });
    this.written(account);
    this.#onChanged(account);
  }

  /** The logical time of the account's last known change. An answer to an earlier call is outdated. */
  changedAt(account: Account): number {
    return this.#changes.timeOf(account);
  }

  /** Returns false while the store is unreachable. Then an answer in memory may be from before the account's last order. */
  catchUp(account: Account): true | Promise<boolean> {
    return this.#versions === null ? true : this.#compareVersion(this.#versions, account);
  }

  #begin<T>(key: string, viewer: Viewer, send: Send<T>): Promise<T> {
    const calls = this.#calls;
    const { [ACCOUNT]: account } = viewer;
    const logicalTime = this.#logicalClock.next();
    const answer = send(viewer);
    const call: JoinableCall = { account, logicalTime, answer };
    const ended = () => {
      if (calls.get(key) === call) calls.delete(key);
      // When a Map grows, V8 links its old table to the new one. A dead table in old space keeps the entries of all later
      // tables alive until a major GC, and each entry would keep a whole request.
      call.answer = null;
    };
    calls.set(key, call);
    // The caller handles a rejection. `finally` would add three promises to each read.
    answer.then(ended, ended);
    return answer;
  }

  async #compareVersion(versions: AccountVersions, account: Account): Promise<boolean> {
    const found = await versions.read(account).catch(() => null);
    if (found === null) return false;
    const { epoch, version } = found;
    // In another epoch the store may have lost versions, so every account counts as changed.
    if (epoch !== this.#lastEpoch) {
      this.#lastEpoch = epoch;
      this.#seen.clear();
      this.#changes.setAll(this.#logicalClock.next());
    }
    // An unknown version may be newer than the answers in memory.
    if (version !== (this.#seen.get(account) ?? null)) {
      if (version === null) this.#seen.delete(account);
      else this.#seen.set(account, version);
      this.changed(account);
    }
    return true;
  }
}

function callKey(operation: OperationName, tokenHash: string, request = ''): string {
  return `${operation} ${tokenHash} ${request}`;
}

type Key = string | Account;

interface Watermark {
  readonly logicalTime: number;
}

const MAX_KEYS = 100_000;
// Measured with token hashes and logins as keys.
const BYTES_OF_AN_ENTRY = 145;

/** Logical times by key. They outlive the keys' cached entries. An evicted key counts with the latest time ever evicted. */
export class Watermarks<Mark extends Watermark = Watermark> {
  readonly #byKey = growingLru<Key, Mark>({
    maxEntries: MAX_KEYS,
    entryBytes: BYTES_OF_AN_ENTRY,
    onEvict: ({ logicalTime }) => {
      this.#evictedTime = Math.max(this.#evictedTime, logicalTime);
    },
  });
  #evictedTime = Number.NEGATIVE_INFINITY;

  get byteSize(): number {
    return this.#byKey.calculatedSize;
  }

  get(key: Key): Mark | undefined {
    return this.#byKey.get(key);
  }

  timeOf(key: Key): number {
    return this.#byKey.get(key)?.logicalTime ?? this.#evictedTime;
  }

  set(key: Key, watermark: Mark): void {
    this.#byKey.set(key, watermark);
  }

  /** Sets all keys to a time, which must not be earlier than that of any key. */
  setAll(logicalTime: number): void {
    this.#byKey.clear();
    this.#evictedTime = logicalTime;
  }
}
