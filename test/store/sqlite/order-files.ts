import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedOutcome } from '../../../src/store/order-records.ts';
import type { MachineClock } from '../../../src/store/sqlite/machine-clock.ts';
import {
  type OrderDatabase,
  type OrderDatabaseOptions,
  openOrderDatabase,
} from '../../../src/store/sqlite/order-database.ts';
import type { TaskAnswer } from '../../../src/store/sqlite/order-task.ts';

export interface TestClock extends MachineClock {
  boot: string;
  /** Uptime and date move together. */
  pass(ms: number): void;
  setDate(ms: number): void;
}

export function createMachineClock(): TestClock {
  let up = 1_000_000;
  let now = Date.parse('2026-11-20T12:00:00Z');
  return {
    boot: 'first boot',
    uptimeMs: () => up,
    nowMs: () => now,
    pass(ms) {
      up += ms;
      now += ms;
    },
    setDate(ms) {
      now = ms;
    },
  };
}

// In tmpfs where there is one: thousands of starts would otherwise each wait for the disk.
const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

export function createFolder() {
  const folder = mkdtempSync(join(parent, 'trading-graph-orders-'));
  return {
    folder,
    path: join(folder, 'orders.db'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The store as its thread has it, without the thread. */
export function openDatabase(path: string, change: Partial<OrderDatabaseOptions> = {}) {
  const database = openOrderDatabase({
    path,
    max: 1_000,
    clock: createMachineClock(),
    onWarn() {},
    ...change,
  });
  return Object.assign(database, { [Symbol.dispose]: () => database.close() });
}

export function reservationOf(key: string, id = `reservation of ${key}`) {
  return {
    ...{ login: '1001', key, id, canonical: `input of ${key}` },
    ...{ reservedAtMs: Date.parse('2026-11-20T12:00:00Z'), pendingMs: 10_000 },
  };
}

export function acceptedAs(key: string): RecordedOutcome {
  return { kind: 'accepted', orderId: `order ${key}`, message: null };
}

/** One answer: null means that the key was free, and is reserved now. */
export function reserve(database: OrderDatabase, key: string): TaskAnswer {
  const [answer = null] = database.run([
    { do: 'reserve', reservation: reservationOf(key, 'another') },
  ]).answers;
  return answer;
}

export function fill(path: string, keys: readonly string[]): void {
  using database = openDatabase(path);
  for (const key of keys) {
    const reservation = reservationOf(key);
    database.run([{ do: 'reserve', reservation }]);
    database.run([{ do: 'settle', reservation, outcome: acceptedAs(key) }]);
  }
}

/** The keys that a start on this file handles wrongly, of orders that were accepted. */
export function survey(path: string, keys: readonly string[]) {
  let database: ReturnType<typeof openDatabase>;
  try {
    database = openDatabase(path);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'SqliteFileError')) throw error;
    return { stopped: true, refused: [], lost: [] };
  }
  using _ = database;
  return { stopped: false, ...verdicts(database, keys) };
}

/** The keys that an open database refuses, and those whose accepted order would be sent again, or has another outcome. */
export function verdicts(database: OrderDatabase, keys: readonly string[]) {
  const refused: string[] = [];
  const lost: string[] = [];
  for (const key of keys) {
    const answer = reserve(database, key);
    if (typeof answer === 'string') refused.push(key);
    else if (
      JSON.stringify(answer && 'outcome' in answer ? answer.outcome : null) !==
      JSON.stringify(acceptedAs(key))
    )
      lost.push(key);
  }
  return { refused, lost };
}

/** The file with its companions, to be put back before each damage. */
export function imageOf(path: string, companions: readonly string[] = ['.mark']) {
  const all = ['', ...companions].map(
    (end) => [`${path}${end}`, readFileSync(`${path}${end}`)] as const,
  );
  return {
    database: all[0]?.[1] ?? Buffer.alloc(0),
    /** In place, so that the inode stays, and with a mark that takes it for the program's own last commit. */
    restore(change: Readonly<Record<string, Buffer | null>> = {}) {
      rmSync(`${path}-journal`, { force: true });
      for (const [file, bytes] of all) {
        const changed = change[file.slice(path.length)];
        if (changed === null) rmSync(file, { force: true });
        else writeFileSync(file, changed ?? bytes);
      }
      const count = all[1]?.[1].toString('latin1', 0, 16);
      const { ctimeNs } = statSync(path, { bigint: true });
      writeFileSync(`${path}.mark`, `${count} ${count} ${ctimeNs}\n`);
    },
  };
}
