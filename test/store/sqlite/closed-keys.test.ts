import { copyFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { toToken } from '../../../lib/token.ts';
import { closedReservation, closingOf, RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import type { OrderDatabase } from '../../../src/store/sqlite/order-database.ts';
import { accountNamed } from '../../support/accounts.ts';
import {
  acceptedAs,
  answerTo,
  createFolder,
  createMachineClock,
  fill,
  openDatabase,
  reservationOf,
  reserve,
} from './order-files.ts';

const HOUR_MS = 3_600_000;

function close(database: OrderDatabase, key: string, keyAgeMs: number | null = 0) {
  const atMs = Date.parse('2026-11-20T12:00:00Z');
  const request = {
    account: accountNamed('1001'),
    key,
    tokenHash: toToken(key).hash,
    atMs,
    keyAgeMs,
  };
  const reservation = closedReservation(request);
  return answerTo(database, { do: 'void', reservation, request });
}

/** Closes a key; how far back the file remembered then. */
function remembered(database: OrderDatabase, key: string): number | undefined {
  const answer = close(database, key);
  if (typeof answer === 'string') throw new Error(answer);
  return answer && 'outcome' in answer ? closingOf(answer)?.rememberedMs : undefined;
}

describe('a file remembers', () => {
  test('since it was made, whichever process asks and over restarts, and a day at the most', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    {
      using database = openDatabase(folder.path, { clock });
      expect(remembered(database, 'k1')).toBe(0);
      clock.pass(HOUR_MS);
      expect(remembered(database, 'k2')).toBe(HOUR_MS);
      using other = openDatabase(folder.path, { clock });
      expect(remembered(other, 'k3')).toBe(HOUR_MS);
    }
    clock.pass(HOUR_MS);
    const rebooted = { ...clock, boot: 'second boot', uptimeMs: () => 5 };
    using database = openDatabase(folder.path, { clock: rebooted });
    expect(remembered(database, 'k4')).toBe(2 * HOUR_MS);
    clock.pass(3 * RECORD_LIFE_MS);
    expect(remembered(database, 'k5')).toBe(RECORD_LIFE_MS);
  });

  test('since it was restored, and closes what it refuses to orders', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    const copy = `${folder.path}.copy`;
    fill(folder.path, ['first']);
    copyFileSync(folder.path, copy);
    fill(folder.path, ['second']);
    copyFileSync(copy, folder.path);
    clock.pass(3 * HOUR_MS);
    {
      using database = openDatabase(folder.path, { clock });
      clock.pass(HOUR_MS);
      expect(reserve(database, 'second')).toEqual({ kind: 'gap', untilMs: null });
      // A client's clock may be ahead by a minute.
      expect(remembered(database, 'second')).toBe(HOUR_MS - 60_000);
      expect(reserve(database, 'second')).toMatchObject({ inputDigest: '' });
      expect(close(database, 'first')).toMatchObject({ outcome: acceptedAs('first') });
      database.declareComplete();
    }
    // What may be sent again may have been sent.
    using database = openDatabase(folder.path, { clock });
    clock.pass(HOUR_MS);
    expect(remembered(database, 'third')).toBe(2 * HOUR_MS);
  });

  test('since a start that finds damage, and does not close the key of a damaged record', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    fill(folder.path, ['damaged', 'other']);
    const raw = new DatabaseSync(folder.path);
    raw.exec("UPDATE orders SET outcome = 'x' WHERE key = 'damaged'");
    raw.close();
    clock.pass(HOUR_MS);
    using database = openDatabase(folder.path, { clock });
    // The change was none of the program's, so that there is a gap as well.
    clock.pass(60_005);
    expect(close(database, 'damaged')).toContain('is damaged');
    expect(remembered(database, 'key')).toBe(5);
  });
});

test('an account closes another key when a closed one expires, however many others did before it', () => {
  using folder = createFolder();
  const clock = createMachineClock();
  using database = openDatabase(folder.path, { clock, maxPerAccount: 20 });
  for (let n = 0; n < 40; n += 1) {
    const reservation = { ...reservationOf(`other ${n}`), account: accountNamed(`${n}`) };
    database.run([{ do: 'reserve', reservation }]);
  }
  close(database, 'k1');
  clock.pass(1_000);
  close(database, 'k2');
  clock.pass(RECORD_LIFE_MS - 3_000);
  expect(close(database, 'k3')).toEqual({ kind: 'share', whose: 'account', freeInMs: 2_000 });
  expect(reserve(database, 'k3')).toBe(null);
  clock.pass(2_000);
  expect(close(database, 'k1')).toMatchObject({ inputDigest: '' });
  expect(close(database, 'k4')).toEqual({ kind: 'share', whose: 'account', freeInMs: 1_000 });
});
