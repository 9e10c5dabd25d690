import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test, vi } from 'vitest';
import { closingOf, RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import type { OrderDatabase } from '../../../src/store/sqlite/order-database.ts';
import { accountNamed } from '../../support/accounts.ts';
import { inFull } from '../../support/in-full.ts';
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

const KEYS = Array.from({ length: 12 }, (_, n) => `key ${n}`);

/** The keys that a start on this file handles wrongly, of orders that were accepted. */
function survey(
  path: string,
  keys: readonly string[],
  open: (path: string) => ReturnType<typeof openDatabase> = openDatabase,
) {
  let database: ReturnType<typeof openDatabase>;
  try {
    database = open(path);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'SqliteFileError')) throw error;
    return { stopped: true, refused: [], lost: [] };
  }
  using _ = database;
  return { stopped: false, ...verdicts(database, keys) };
}

/** The keys that an open database refuses, and those whose accepted order would be sent again, or has another outcome. */
function verdicts(database: OrderDatabase, keys: readonly string[]) {
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
function imageOf(path: string, companions: readonly string[] = ['.mark']) {
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

/** A process is killed in the middle of a commit. */
function killWithin(path: string): void {
  const killed = `const { DatabaseSync } = require('node:sqlite');
    new DatabaseSync(process.argv[1]).exec(process.argv[2]);
    process.kill(process.pid, 'SIGKILL');`;
  spawnSync(process.execPath, ['-e', killed, path, UNFINISHED]);
  expect(statSync(`${path}-journal`).size).toBeGreaterThan(0);
}

/** A folder with a file of order records, and the image of that file. */
function createFilledFolder() {
  const folder = createFolder();
  fill(folder.path, KEYS);
  return { ...folder, image: imageOf(folder.path) };
}

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ (1 << bit);
  return copy;
}

/** Damages each of the first bytes, and then one in so many. */
interface Places {
  readonly length: number;
  readonly whole: number;
  readonly stride: number;
}

/** Each damage is survived without an order that would be sent again; returns how it was handled. */
function meet(path: string, { length, whole, stride }: Places, damage: (at: number) => void) {
  const met = { stopped: 0, refused: 0, unharmed: 0 };
  const lost: string[] = [];
  for (let at = 0; at < length; at += at < whole ? 1 : stride) {
    damage(at);
    const found = survey(path, KEYS);
    if (found.lost.length > 0) lost.push(`${at}: ${found.lost}`);
    if (found.stopped) met.stopped += 1;
    else if (found.refused.length > 0) met.refused += 1;
    else met.unharmed += 1;
  }
  expect(lost).toEqual([]);
  return met;
}

// Every byte takes a minute of both cores.
// Odd, or some bits would be flipped nowhere.
const STRIDE = inFull(1, 67);
// A part of the page, so that cuts meet the edges of pages.
const CUT_STRIDE = inFull(1, 131);
const WHOLLY_DAMAGED_BYTES = 1_024;
// SQLite's own: where it is damaged the file is refused as a whole.
const HEADER_BYTES = 100;

// Thousands of files are opened, each in turn.
const AMPLE = { timeout: 600_000 };

describe('a damaged file of order records', AMPLE, () => {
  test('forgets nothing, whichever of its bytes has a flipped bit, and wherever it is cut', () => {
    using folder = createFilledFolder();
    const { image } = folder;
    const places = { length: image.database.length, whole: WHOLLY_DAMAGED_BYTES };
    const met = meet(folder.path, { ...places, stride: STRIDE }, (at) => {
      // Another bit in each byte, all eight of them in rotation.
      image.restore({ '': flipped(image.database, at, at % 8) });
    });
    expect(met.stopped).toBeGreaterThan(80);
    expect(met.refused).toBeGreaterThan(20);
    const cut = meet(folder.path, { ...places, stride: CUT_STRIDE }, (size) => {
      image.restore({ '': image.database.subarray(0, size) });
    });
    expect(cut.refused + cut.unharmed).toBe(0);
  });

  test('refuses the damaged key alone, in its row and in either index', () => {
    using folder = createFilledFolder();
    const { image } = folder;
    const { database } = image;
    const places = placesOf(database, Buffer.from('key 7'));
    expect(places.length).toBeGreaterThanOrEqual(2);
    for (const at of places) {
      image.restore({ '': flipped(database, at, 1) });
      const warnings: string[] = [];
      const clock = createMachineClock();
      {
        using opened = openDatabase(folder.path, {
          clock,
          onWarn: (warning) => warnings.push(warning),
        });
        expect(warnings).toEqual([expect.stringContaining('has damaged records')]);
        expect(opened.run([]).degradedReason).toBe('order records are damaged');
        expect(reserve(opened, 'key 7')).toBe('the record of this key is damaged');
        expect(reserve(opened, 'key 8')).toMatchObject({ outcome: { orderId: 'order key 8' } });
        expect(reserve(opened, 'new')).toBe(null);
        // However often it is retried, the outcome of its order has nowhere to go.
        const reservation = reservationOf('key 7');
        const task = { do: 'settle', reservation, outcome: acceptedAs('key 7') } as const;
        expect(opened.run([task]).answers).toEqual([null]);
        // It does not block the others from expiring either.
        clock.pass(RECORD_LIFE_MS);
        expect(reserve(opened, 'key 8')).toBe(null);
        expect(reserve(opened, 'key 7')).toBe('the record of this key is damaged');
        expect(opened.run([]).degradedReason).toBe('order records are damaged');
        opened.declareComplete();
      }
      using next = openDatabase(folder.path, { clock });
      expect(next.run([]).degradedReason).toBe(null);
      expect(reserve(next, 'key 8')).toMatchObject({ id: 'another' });
      expect(reserve(next, 'key 7')).toBe(null);
    }
  });

  test.each([
    ['fewer rows than were written', "DELETE FROM orders WHERE key = 'key 3'", 'has 11 rows of 12'],
    ['a changed state', 'UPDATE state SET writes = 100', 'is damaged'],
    ['a changed schema', 'DROP INDEX orders_hash', 'is damaged'],
    ['another version', 'PRAGMA user_version = 2', 'is of another version'],
    ['no state', 'DELETE FROM state', 'is damaged'],
  ])('does not start with %s', (_, change, problem) => {
    using folder = createFilledFolder();
    const raw = new DatabaseSync(folder.path);
    raw.exec(change);
    raw.close();
    expect(() => openDatabase(folder.path)).toThrow(problem);
  });

  test('forgets nothing while it is in use, whichever of its bytes has a flipped bit', () => {
    using folder = createFilledFolder();
    const { image } = folder;
    const { length } = image.database;
    const lost: string[] = [];
    let refused = 0;
    for (let at = HEADER_BYTES; at < length; at += STRIDE) {
      image.restore();
      using database = openDatabase(folder.path);
      const whole = readFileSync(folder.path);
      const bytes = flipped(whole, at, at % 8);
      // A larger change counter, or what is cached would still count.
      const changes = whole.readUInt32BE(24) + 1;
      for (const place of [24, 92]) bytes.writeUInt32BE(changes, place);
      writeFileSync(folder.path, bytes);
      const found = verdicts(database, KEYS);
      lost.push(...found.lost.map((key) => `${at}: ${key}`));
      refused += found.refused.length;
    }
    expect(lost).toEqual([]);
    expect(refused).toBeGreaterThan(length / STRIDE / 5);
  });
});

// So many rows that pages are split, and so small a cache that they reach the file early.
const UNFINISHED = `PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;
  WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60)
  INSERT INTO orders SELECT NULL, '1001', 'new ' || i, i, 'r', 'c', 1, NULL,
    '2026-11-20T12:00:00.000Z', 'b', 1, 'd' FROM n;
  UPDATE orders SET pendingMs = pendingMs + 1; UPDATE state SET writes = writes + 1`;

describe('a hot rollback journal', AMPLE, () => {
  /** The file and its journal as a crash in the middle of a commit leaves them. */
  function crashed() {
    const folder = createFolder();
    fill(folder.path, KEYS);
    const raw = new DatabaseSync(folder.path);
    raw.exec(UNFINISHED);
    for (const end of ['', '-journal'])
      copyFileSync(folder.path + end, `${folder.path}.crash${end}`);
    raw.close();
    const database = readFileSync(`${folder.path}.crash`);
    const journal = readFileSync(`${folder.path}.crash-journal`);
    const image = imageOf(folder.path, ['.mark', '-journal']);
    const restore = (bytes: Buffer | null) => image.restore({ '': database, '-journal': bytes });
    return { ...folder, database, journal, restore };
  }

  test('is rolled back, forgets nothing by being removed, and is no sign of a copy, unless it came with one', () => {
    using crash = crashed();
    expect(crash.journal.length).toBeGreaterThan(3 * 4_096);
    crash.restore(crash.journal);
    expect(survey(crash.path, KEYS)).toEqual({ stopped: false, refused: [], lost: [] });
    crash.restore(null);
    expect(survey(crash.path, KEYS)).toMatchObject({ lost: [] });
    for (const isCopy of [false, true]) {
      crash.restore(crash.journal);
      // As `cp -a` does.
      if (isCopy) utimesSync(crash.path, new Date(0), new Date(0));
      using database = openDatabase(crash.path);
      const { gapReason } = database.run([]);
      expect(gapReason?.includes('may be incomplete') ?? false).toBe(isCopy);
    }
  });

  test('is no sign of a copy where another process has rolled it back', () => {
    using folder = createFolder();
    fill(folder.path, KEYS);
    using other = openDatabase(folder.path);
    killWithin(folder.path);
    other.run([{ do: 'find', account: accountNamed('1001'), key: 'none' }]);
    expect(statSync(`${folder.path}-journal`).size).toBe(0);
    using restarted = openDatabase(folder.path);
    expect(restarted.run([]).degradedReason).toBe(null);
  });

  test('is no sign of a copy where a start ended between the rollback and its first commit', () => {
    using crash = crashed();
    crash.restore(crash.journal);
    const { prepare } = DatabaseSync.prototype;
    const killed = vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (
      this: DatabaseSync,
      sql: string,
    ) {
      if (sql.includes('quick_check')) throw new Error('killed');
      return prepare.call(this, sql);
    });
    expect(() => openDatabase(crash.path)).toThrow('killed');
    killed.mockRestore();
    expect(existsSync(`${crash.path}-journal`)).toBe(false);
    using restarted = openDatabase(crash.path);
    expect(restarted.run([]).degradedReason).toBe(null);
  });

  test.each([
    ['being cut', inFull(37, 149), (journal: Buffer, at: number) => journal.subarray(0, at)],
    [
      'a flipped bit',
      inFull(13, 61),
      (journal: Buffer, at: number) => flipped(journal, at, at % 8),
    ],
  ])('forgets nothing by %s', (_, stride, damage) => {
    using crash = crashed();
    const places = { length: crash.journal.length, whole: 600, stride };
    const met = meet(crash.path, places, (at) => crash.restore(damage(crash.journal, at)));
    expect(met.stopped + met.refused).toBeGreaterThan(100);
  });
});

describe('a file that is verified behind the start', AMPLE, () => {
  const SETTLED = Array.from({ length: 60 }, (_, n) => `key ${n}`);
  const DAMAGED = 'the record of this key is damaged';
  const TOLD = [expect.stringContaining('has damaged records')];

  /** A file whose rows were verified but for the last one, and its image. */
  function createVerifiedFolder() {
    const folder = createFolder();
    const clock = createMachineClock();
    {
      using database = openDatabase(folder.path, { clock });
      const settle = (key: string) => {
        const reservation = reservationOf(key);
        database.run([{ do: 'reserve', reservation }]);
        database.run([{ do: 'settle', reservation, outcome: acceptedAs(key) }]);
      };
      for (const key of SETTLED) settle(key);
      clock.pass(10 * 60_000);
      toIdle(database);
      settle('late');
    }
    const warnings: string[] = [];
    const onWarn = (warning: string) => warnings.push(warning);
    const open = (path = folder.path) => openDatabase(path, { clock, maxBytesAtOnce: 0, onWarn });
    return { ...folder, clock, warnings, open, image: imageOf(folder.path) };
  }

  /** Verifies until nothing is left to do; how often that took. */
  function toIdle(database: OrderDatabase): number {
    let portions = 1;
    while (database.verifyOn() < 60_000) portions += 1;
    return portions;
  }

  /** Another digest in a row, which its program takes for its own last commit. */
  function damageRow({ path, image }: ReturnType<typeof createVerifiedFolder>, key: string): void {
    const raw = new DatabaseSync(path);
    raw.prepare("UPDATE orders SET digest = 'another' WHERE key = ?").run(key);
    raw.close();
    image.restore({ '': readFileSync(path) });
  }

  test('refuses a damaged record before it is found, and then tells of it and verifies the whole at the next start', () => {
    using folder = createVerifiedFolder();
    damageRow(folder, 'key 3');
    {
      using database = folder.open();
      expect(folder.warnings).toEqual([]);
      expect(database.run([]).degradedReason).toBe(null);
      expect(reserve(database, 'key 3')).toBe(DAMAGED);
      expect(reserve(database, 'late')).toMatchObject({ outcome: acceptedAs('late') });
      toIdle(database);
      expect(folder.warnings).toEqual(TOLD);
      expect(database.run([]).degradedReason).toBe('order records are damaged');
      expect(reserve(database, 'key 3')).toBe(DAMAGED);
      expect(reserve(database, 'key 4')).toMatchObject({ outcome: acceptedAs('key 4') });
      expect(reserve(database, 'new')).toBe(null);
    }
    folder.warnings.length = 0;
    using _ = folder.open();
    expect(folder.warnings).toEqual(TOLD);
  });

  test('tells of a row that is damaged later, and remembers from then on alone', () => {
    using folder = createVerifiedFolder();
    const { clock, path, warnings } = folder;
    damageRow(folder, 'key 3');
    damageRow(folder, 'key 30');
    using database = folder.open();
    const rememberedMs = () => {
      const reservation = reservationOf(`closed ${warnings.length}`);
      const request = { ...reservation, tokenHash: 'a', atMs: 0, keyAgeMs: null };
      const closed = answerTo(database, { do: 'void', reservation, request });
      return closed && typeof closed === 'object' && 'outcome' in closed
        ? closingOf(closed)?.rememberedMs
        : null;
    };
    toIdle(database);
    expect(warnings).toEqual([expect.stringMatching(/refused: row 4 does .*, row 31 does /)]);
    expect(reserve(database, 'new')).toBe(null);
    clock.pass(10 * 60_000);
    expect(rememberedMs()).toBe(10 * 60_000);
    const raw = new DatabaseSync(path);
    raw.exec("UPDATE orders SET digest = 'another' WHERE key = 'new'");
    raw.close();
    toIdle(database);
    expect(warnings.slice(1)).toEqual([expect.stringMatching(/refused: row \d+ does not match/)]);
    expect(rememberedMs()).toBe(0);
    toIdle(database);
    expect(warnings).toHaveLength(2);
  });

  test('refuses a key that neither index leads to, once its row is found', () => {
    using folder = createVerifiedFolder();
    const { database: bytes } = folder.image;
    const raw = new DatabaseSync(folder.path);
    const { keyHash } = raw.prepare("SELECT keyHash FROM orders WHERE key = 'key 9'").get() ?? {};
    raw.close();
    const stored = Buffer.alloc(8);
    stored.writeDoubleBE(Number(keyHash));
    let damaged: Buffer = bytes;
    // In the pages of indexes alone: 10 is the type of their leaves.
    for (const wanted of [stored, Buffer.from('1001key 9')]) {
      const places = placesOf(bytes, wanted).filter((at) => bytes[at - (at % 4_096)] === 10);
      expect(places).toHaveLength(1);
      damaged = flipped(damaged, (places[0] ?? 0) + wanted.length - 1, 1);
    }
    folder.image.restore({ '': damaged });
    using database = folder.open();
    toIdle(database);
    expect(folder.warnings).toEqual([expect.stringContaining('is missing from an index')]);
    expect(verdicts(database, [...SETTLED, 'late'])).toEqual({ refused: ['key 9'], lost: [] });
    expect(reserve(database, 'new')).toBe(null);
  });

  test('refuses all orders once a page is found that cannot be read, and does not start again', () => {
    using folder = createVerifiedFolder();
    const bytes = Buffer.from(folder.image.database);
    // 13 is the type of a table's leaves.
    const row = placesOf(bytes, Buffer.from('input of key 20')).find(
      (at) => bytes[at - (at % 4_096)] === 13,
    );
    expect(row).toBeDefined();
    bytes[(row ?? 0) - ((row ?? 0) % 4_096)] = 0;
    folder.image.restore({ '': bytes });
    {
      using database = folder.open();
      expect(reserve(database, 'late')).toMatchObject({ outcome: acceptedAs('late') });
      toIdle(database);
      expect(folder.warnings).toEqual([expect.stringContaining('is damaged')]);
      for (const key of ['key 20', 'late', 'new']) {
        expect(reserve(database, key)).toContain('is damaged');
      }
    }
    expect(() => folder.open()).toThrow('is damaged');
  });

  test('forgets nothing, whichever of its bytes has a flipped bit', () => {
    using folder = createVerifiedFolder();
    const { image } = folder;
    const all = [...SETTLED, 'late'];
    const lost: string[] = [];
    let refused = 0;
    for (let at = 0; at < image.database.length; at += inFull(7, 401)) {
      image.restore({ '': flipped(image.database, at, at % 8) });
      const found = survey(folder.path, all, folder.open);
      lost.push(...found.lost.map((key) => `${at}: ${key}`));
      if (found.stopped || found.refused.length > 0) refused += 1;
    }
    expect(lost).toEqual([]);
    expect(refused).toBeGreaterThan(20);
  });

  test('is still verified behind after its process was killed in a commit', () => {
    using folder = createVerifiedFolder();
    damageRow(folder, 'key 3');
    folder.open().close();
    killWithin(folder.path);
    using database = folder.open();
    expect(folder.warnings).toEqual([]);
    expect(verdicts(database, [...SETTLED, 'late'])).toEqual({ refused: ['key 3'], lost: [] });
    expect(toIdle(database)).toBeGreaterThan(1);
    expect(folder.warnings).toEqual(TOLD);
  });

  test('is still verified behind after an operator has looked at it', () => {
    using folder = createVerifiedFolder();
    const { clock, path } = folder;
    openDatabase(path, { clock, mustExist: true, isInspection: true, maxBytesAtOnce: 0 }).close();
    damageRow(folder, 'key 3');
    using database = folder.open();
    expect(folder.warnings).toEqual([]);
    expect(toIdle(database)).toBeGreaterThan(1);
    expect(folder.warnings).toEqual(TOLD);
  });

  test.each<[string, (folder: ReturnType<typeof createVerifiedFolder>) => void]>([
    [
      'it is small',
      ({ clock, path, warnings }) => {
        using _ = openDatabase(path, { clock, onWarn: (warning) => warnings.push(warning) });
      },
    ],
    [
      'the machine has started since',
      ({ clock, open }) => {
        clock.boot = 'second boot';
        open().close();
      },
    ],
    [
      'an operator asks',
      ({ clock, path, warnings }) => {
        const onWarn = (warning: string) => warnings.push(warning);
        using _ = openDatabase(path, { clock, mustExist: true, maxBytesAtOnce: 0, onWarn });
      },
    ],
    [
      'the row has come since',
      (folder) => {
        damageRow(folder, 'late');
        folder.open().close();
      },
    ],
  ])('is verified at the start where %s', (_, start) => {
    using folder = createVerifiedFolder();
    damageRow(folder, 'key 3');
    start(folder);
    expect(folder.warnings).toEqual(TOLD);
  });

  test('is verified at the start where it was changed, and at each one after that while it is damaged', () => {
    using folder = createVerifiedFolder();
    damageRow(folder, 'key 3');
    utimesSync(folder.path, new Date(), new Date());
    folder.open().close();
    expect(folder.warnings).toEqual([expect.stringContaining('was changed'), ...TOLD]);
    folder.warnings.length = 0;
    folder.open().close();
    expect(folder.warnings).toEqual(TOLD);
  });
});

function placesOf(bytes: Buffer, wanted: Buffer): number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + 1))
    places.push(at);
  return places;
}
