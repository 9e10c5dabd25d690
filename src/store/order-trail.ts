import { hostname } from 'node:os';
import type { Account } from '../../lib/account.ts';
import { type Clock, pause, within } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
import { growingLru } from '../../lib/growing-lru.ts';
import { TokenBucket } from '../../lib/limits/token-bucket.ts';
import { reasonOf } from '../../lib/reason-of.ts';

/** One event of an order, with its time and its process. */
export interface TrailEntry {
  readonly account: Account;
  readonly key: string;
  readonly at: string;
  readonly event: string;
  readonly replica: string;
  readonly [fact: string]: unknown;
}

/** Lines, each a whole entry, which are only ever appended. */
export interface TrailStore {
  /** Where it fails the very same lines are appended once more: some of them may be there. */
  append(lines: readonly string[]): Promise<void>;
  /** Those that begin so, the oldest first. */
  scan(prefix: string): AsyncIterable<string>;
}

export type OrderTrail = ReturnType<typeof openOrderTrail>;

export interface TrailSettings {
  /** How long entries are kept; 0 or left out: there is no trail. */
  readonly trailDays?: number;
  readonly onTrailLost?: ((entries: number) => void) | undefined;
  /** The most order records of one account, of which each may leave a few entries. */
  readonly maxPerAccount?: number;
}

interface TrailOptions extends TrailSettings {
  readonly clock: Clock;
  readonly onWarn: (message: string) => void;
}

const MAX_WAITING = 5_000;
/** An order is asked for, answered, and perhaps answered once more. */
const ENTRIES_OF_A_RECORD = 3;
const DAY_MS = 86_400_000;
const ACCOUNTS = { maxEntries: 100_000, entryBytes: 250 };
const LINES_AT_ONCE = 100;
const CLOSE_MS = 2_000;
/** A Redis that fails over is back by then. */
const ATTEMPTS = 30;
const RETRY_MS = 1_000;

export const REPLICA = `${hostname()}/${process.pid}`;

/**
 * What became of each order, for people who have to find out later. No order is refused by it, and none waits for it: an entry that cannot
 * be written is lost, and counted. `store`: null where there is no trail.
 */
export function openOrderTrail(store: TrailStore | null, options: TrailOptions) {
  const { clock, onWarn, onTrailLost, maxPerAccount = MAX_WAITING } = options;
  const most = ENTRIES_OF_A_RECORD * maxPerAccount;
  const shares = growingLru<Account, TokenBucket>(ACCOUNTS);
  let waiting: string[] = [];
  let writing: Promise<void> | null = null;
  let added = 0;

  /** An order that is never sent leaves no record, so that nothing else bounds how many entries push those of other accounts out. */
  function hasShare(account: Account): boolean {
    const nowMs = clock.now();
    const rule = { max: most, perMs: most / DAY_MS, maxDebt: 0 };
    const share = shares.get(account) ?? new TokenBucket(rule, nowMs);
    shares.set(account, share);
    if (share.left(nowMs) < 1) return false;
    share.take(1, nowMs);
    return true;
  }

  /** Entries that come while a write is under way are written by the next. */
  async function writeAll({ append }: TrailStore): Promise<void> {
    let lines: readonly string[] = [];
    for (let failures = 0; waiting.length > 0; ) {
      if (lines.length === 0) lines = waiting.slice(0, LINES_AT_ONCE);
      try {
        await append(lines);
        failures = 0;
      } catch (error) {
        failures += 1;
        if (failures === 1) onWarn(`the trail of orders cannot be written: ${reasonOf(error)}`);
        if (failures % ATTEMPTS !== 0) {
          await pause(clock, RETRY_MS);
          continue;
        }
        onTrailLost?.(lines.length);
      }
      waiting = waiting.slice(lines.length);
      lines = [];
    }
    writing = null;
  }

  return {
    add({ account, key }: Pick<TrailEntry, 'account' | 'key'>, event: string, facts: object): void {
      if (store === null) return;
      const at = new Date(clock.date()).toISOString();
      if (!hasShare(account) || waiting.length === MAX_WAITING) {
        onTrailLost?.(1);
        return;
      }
      added += 1;
      // Account and key come first: an order is found by the beginning of its lines.
      waiting.push(lineOf({ account, key, at, event, replica: REPLICA, entry: added, ...facts }));
      if (writing !== null) return;
      writing = writeAll(store);
      fireAndForget('order record', writing);
    },
    async close(): Promise<void> {
      if (writing !== null) await within(clock, CLOSE_MS, writing);
    },
  };
}

/** JSON leaves two characters as they are that end a line for who reads it. */
function lineOf(entry: object): string {
  return JSON.stringify(entry).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
}

/** The entries of an account, or of one order, each once; a line that was torn by the end of its process is none. */
export async function* trailEntries(store: TrailStore, account: Account, key?: string) {
  const prefix = lineOf({ account, ...(key !== undefined && { key }) });
  const seen = new Set<string>();
  for await (const line of store.scan(`${prefix.slice(0, -1)},`)) {
    try {
      const entry: TrailEntry = JSON.parse(line);
      const name = `${entry.at} ${entry.replica} ${entry.entry}`;
      // One of an earlier version has no number.
      if (entry.entry === undefined || !seen.has(name)) yield entry;
      seen.add(name);
    } catch {}
  }
}
