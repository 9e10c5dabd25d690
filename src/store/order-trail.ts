import { hostname } from 'node:os';
import type { Account } from '../../lib/account.ts';
import { type Clock, pause, within } from '../../lib/clock.ts';
import { fireAndForget } from '../../lib/fire-and-forget.ts';
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
  append(lines: readonly string[]): Promise<void>;
  /** Those that begin so, the oldest first. */
  scan(prefix: string): AsyncIterable<string>;
}

export type OrderTrail = ReturnType<typeof openOrderTrail>;

export interface TrailSettings {
  /** How long entries are kept; 0 or left out: there is no trail. */
  readonly trailDays?: number;
  readonly onTrailLost?: ((entries: number) => void) | undefined;
}

interface TrailOptions extends TrailSettings {
  readonly clock: Clock;
  readonly onWarn: (message: string) => void;
}

const MAX_WAITING = 5_000;
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
  const { clock, onWarn, onTrailLost } = options;
  let waiting: string[] = [];
  let writing: Promise<void> | null = null;

  /** Entries that come while a write is under way are written by the next. */
  async function writeAll({ append }: TrailStore): Promise<void> {
    for (let failures = 0; waiting.length > 0; ) {
      const lines = waiting.slice(0, LINES_AT_ONCE);
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
    }
    writing = null;
  }

  return {
    add({ account, key }: Pick<TrailEntry, 'account' | 'key'>, event: string, facts: object): void {
      if (store === null) return;
      const at = new Date(clock.date()).toISOString();
      if (waiting.length === MAX_WAITING) onTrailLost?.(1);
      // Account and key come first: an order is found by the beginning of its lines.
      else waiting.push(lineOf({ account, key, at, event, replica: REPLICA, ...facts }));
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

/** The entries of an account, or of one order; a line that was torn by the end of its process is none. */
export async function* trailEntries(store: TrailStore, account: Account, key?: string) {
  const prefix = lineOf({ account, ...(key !== undefined && { key }) });
  for await (const line of store.scan(`${prefix.slice(0, -1)},`)) {
    try {
      yield JSON.parse(line) as TrailEntry;
    } catch {}
  }
}
