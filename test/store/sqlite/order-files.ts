import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedOutcome } from '../../../src/store/order-records.ts';
import type { MachineClock } from '../../../src/store/sqlite/machine-clock.ts';
import {
  type OrderDatabase,
  type OrderDatabaseOptions,
  openOrderDatabase,
} from '../../../src/store/sqlite/order-database.ts';
import type { Task } from '../../../src/store/sqlite/order-task.ts';
import { accountNamed } from '../../support/accounts.ts';

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
    skewMs: () => 0,
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
    account: accountNamed('1001'),
    key,
    id,
    inputDigest: `input of ${key}`,
    reservedAtMs: Date.parse('2026-11-20T12:00:00Z'),
    pendingMs: 10_000,
  };
}

export function acceptedAs(key: string): RecordedOutcome {
  return { kind: 'accepted', orderId: `order ${key}`, message: null };
}

/** One answer: null means that the key was free, and is reserved now. */
export function reserve(database: OrderDatabase, key: string) {
  return answerTo(database, { do: 'reserve', reservation: reservationOf(key, 'another') });
}

/** The record there is, null, why nobody can tell, or any other refusal. */
export function answerTo(database: OrderDatabase, task: Task) {
  const [answer = null] = database.run([task]).answers;
  if (answer?.kind === 'record') return answer.record;
  return answer?.kind === 'unavailable' ? answer.reason : answer;
}

export function fill(path: string, keys: readonly string[]): void {
  using database = openDatabase(path);
  for (const key of keys) {
    const reservation = reservationOf(key);
    database.run([{ do: 'reserve', reservation }]);
    database.run([{ do: 'settle', reservation, outcome: acceptedAs(key) }]);
  }
}
