import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { RECORD_LIFE_MS } from '../../../src/store/order-records.ts';
import { checkFilePath } from '../../../src/store/sqlite/check-file-path.ts';
import { SQL } from '../../../src/store/sqlite/order-rows.ts';
import {
  acceptedAs,
  createFolder,
  createMachineClock,
  fill,
  openDatabase,
  reservationOf,
  reserve,
} from './order-files.ts';

const INCOMPLETE = expect.stringContaining('may be incomplete');

function find(database: ReturnType<typeof openDatabase>, key: string) {
  return database.run([{ do: 'find', login: '1001', key }]).answers[0];
}

test('no statement of an order reads more rows than its account has', () => {
  using folder = createFolder();
  openDatabase(folder.path).close();
  const database = new DatabaseSync(folder.path);
  for (const [name, sql] of Object.entries(SQL)) {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    // A scan reads all rows, and so does sorting them.
    for (const { detail } of steps)
      expect([name, detail]).toEqual([name, expect.stringMatching(/^(SEARCH|CORRELATED) /)]);
  }
  database.close();
});

describe('a record', () => {
  test('is forgotten a day after its reservation, over restarts too', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    {
      using database = openDatabase(folder.path, { clock });
      expect(reserve(database, 'early')).toBe(null);
      clock.pass(1_000);
      expect(reserve(database, 'late')).toBe(null);
    }
    clock.pass(RECORD_LIFE_MS - 1_001);
    using database = openDatabase(folder.path, { clock });
    expect(find(database, 'early')).toMatchObject({ outcome: null });
    clock.pass(1);
    expect(find(database, 'early')).toBe(null);
    expect(database.run([{ do: 'check' }]).held).toBe(1);
    expect(find(database, 'late')).toMatchObject({ outcome: null });
    expect(reserve(database, 'early')).toBe(null);
    clock.pass(1_000);
    expect(reserve(database, 'late')).toBe(null);
    expect(database.run([]).held).toBe(2);
  });

  test('that has expired makes room for its account, however many others expired before it', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    const of = (login: string, key: string) =>
      ({ do: 'reserve', reservation: { ...reservationOf(key), login } }) as const;
    using database = openDatabase(folder.path, { clock, maxPerAccount: 3 });
    database.run(Array.from({ length: 200 }, (_, n) => of(`other ${n}`, 'key')));
    clock.pass(1_000);
    database.run([of('1', 'a'), of('1', 'b')]);
    clock.pass(5_000);
    const full = database.run([of('1', 'c'), of('1', 'd'), of('2', 'd')]);
    const freeInMs = RECORD_LIFE_MS - 5_000;
    expect(full.answers).toEqual([null, { whose: 'account', freeInMs }, null]);
    clock.pass(freeInMs);
    expect(database.run([of('1', 'e'), of('1', 'f'), of('1', 'g')]).answers).toEqual([
      null,
      null,
      { whose: 'account', freeInMs: 5_000 },
    ]);
    expect(database.run([of('1', 'c')]).answers[0]).toMatchObject({ id: 'reservation of c' });
  });

  test('gets no older by a corrected date, in this process or another', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    using database = openDatabase(folder.path, { clock });
    expect(reserve(database, 'key')).toBe(null);
    clock.setDate(clock.nowMs() + 9 * RECORD_LIFE_MS);
    expect(reserve(database, 'key')).toMatchObject({ id: 'another' });
    using other = openDatabase(folder.path, { clock });
    expect(reserve(other, 'key')).toMatchObject({ id: 'another' });
  });

  test('ages by the date over a restart of the machine, and never below nothing', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    openDatabase(folder.path, { clock }).close();
    {
      using database = openDatabase(folder.path, { clock });
      reserve(database, 'key');
    }
    const rebooted = { ...clock, boot: 'second boot', uptimeMs: () => 5 };
    clock.setDate(clock.nowMs() - 60_000);
    using database = openDatabase(folder.path, { clock: rebooted });
    expect(find(database, 'key')).toMatchObject({ pendingMs: 10_000 });
    clock.setDate(clock.nowMs() + 60_000 + RECORD_LIFE_MS - 1);
    expect(find(database, 'key')).toMatchObject({ pendingMs: 0 });
    clock.setDate(clock.nowMs() + 1);
    expect(find(database, 'key')).toBe(null);
  });

  test('of a date far ahead lives a day from the start, and keeps no other longer', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    const reservedAtMs = clock.nowMs() + 365 * RECORD_LIFE_MS;
    {
      using database = openDatabase(folder.path, { clock });
      const reservation = { ...reservationOf('ahead'), reservedAtMs };
      database.run([
        { do: 'reserve', reservation },
        { do: 'settle', reservation, outcome: acceptedAs('ahead') },
      ]);
    }
    const rebooted = { ...clock, boot: 'second boot' };
    using database = openDatabase(folder.path, { clock: rebooted });
    reserve(database, 'other');
    clock.pass(RECORD_LIFE_MS - 1);
    expect(find(database, 'ahead')).toMatchObject({ reservedAtMs, outcome: acceptedAs('ahead') });
    clock.pass(1);
    expect(database.run([{ do: 'check' }]).held).toBe(0);
  });

  test('is released only while no client was answered that its outcome is unknown', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    using database = openDatabase(folder.path, { clock });
    for (const key of ['in time', 'late']) {
      database.run([{ do: 'reserve', reservation: reservationOf(key) }]);
    }
    clock.pass(9_999);
    database.run([{ do: 'release', reservation: reservationOf('in time') }]);
    expect(find(database, 'in time')).toBe(null);
    clock.pass(1);
    database.run([{ do: 'release', reservation: reservationOf('late') }]);
    expect(find(database, 'late')).toMatchObject({ outcome: null });
    database.run([
      { do: 'settle', reservation: reservationOf('late'), outcome: acceptedAs('late') },
    ]);
    expect(find(database, 'late')).toMatchObject({ outcome: acceptedAs('late') });
  });
});

describe('the file', () => {
  test('is for its owner alone, whatever it was', async () => {
    using folder = createFolder();
    const path = join(folder.folder, 'deep', 'orders.db');
    await checkFilePath(path);
    fill(path, ['key']);
    chmodSync(path, 0o644);
    {
      using database = openDatabase(path);
      expect(database.run([]).degradedReason).toBe(null);
    }
    expect(statSync(join(folder.folder, 'deep')).mode & 0o777).toBe(0o700);
    for (const end of ['', '-journal', '.mark']) {
      expect(statSync(path + end).mode & 0o777, end).toBe(0o600);
    }
  });

  test.each([
    ['is empty', ''],
    ['is no database', 'my thesis, and it is rather long\n'.repeat(100)],
    ['is no database', 'short'],
  ])('that %s stops the start and is left alone', (problem, text) => {
    using folder = createFolder();
    writeFileSync(folder.path, text, { mode: 0o644 });
    expect(() => openDatabase(folder.path)).toThrow(problem);
    expect(readFileSync(folder.path, 'utf8')).toBe(text);
    expect(statSync(folder.path).mode & 0o777).toBe(0o644);
  });

  test('that is the database of another program stops the start and is left alone', () => {
    using folder = createFolder();
    const raw = new DatabaseSync(folder.path);
    raw.exec('CREATE TABLE recipes (name TEXT)');
    raw.close();
    const before = readFileSync(folder.path);
    expect(() => openDatabase(folder.path)).toThrow("is no file of this program's");
    expect(readFileSync(folder.path)).toEqual(before);
  });

  test.runIf(existsSync('/proc/self/fd'))('is let go of when it is closed, with its mark', () => {
    using folder = createFolder();
    const opened = () =>
      readdirSync('/proc/self/fd').filter((fd) => {
        const target = join('/proc/self/fd', fd);
        return existsSync(target) && readlinkSync(target).startsWith(folder.folder);
      });
    const database = openDatabase(folder.path);
    expect(opened().length).toBeGreaterThanOrEqual(2);
    database.close();
    expect(opened()).toEqual([]);
  });
});

describe('a copy', () => {
  const KEYS = ['first', 'second'];

  /** A file with two orders, and an older copy of it that has only the first. */
  function createBackup() {
    const folder = createFolder();
    const copy = `${folder.path}.copy`;
    fill(folder.path, KEYS.slice(0, 1));
    copyFileSync(folder.path, copy);
    fill(folder.path, KEYS.slice(1));
    return { ...folder, copy };
  }

  test.each([
    ['over the file', (path: string, copy: string) => copyFileSync(copy, path)],
    ['in its place', (path: string, copy: string) => renameSync(copy, path)],
    [
      'after the file was removed',
      (path: string, copy: string) => {
        rmSync(path);
        copyFileSync(copy, path);
      },
    ],
  ])('that was put %s refuses unknown keys for a day', (_, restore) => {
    using backup = createBackup();
    const clock = createMachineClock();
    restore(backup.path, backup.copy);
    for (let restart = 0; restart < 3; restart += 1) {
      const warnings: string[] = [];
      using database = openDatabase(backup.path, {
        clock,
        onWarn: (warning) => warnings.push(warning),
      });
      expect(warnings).toHaveLength(restart === 0 ? 1 : 0);
      expect(reserve(database, 'second')).toEqual(INCOMPLETE);
      expect(find(database, 'second')).toEqual(INCOMPLETE);
      expect(database.run([]).degradedReason).toEqual(INCOMPLETE);
      expect(reserve(database, 'first')).toMatchObject({ outcome: acceptedAs('first') });
      clock.pass(RECORD_LIFE_MS / 3 - 1);
    }
    using database = openDatabase(backup.path, { clock });
    expect(reserve(database, 'second')).toEqual(INCOMPLETE);
    clock.pass(3);
    expect(reserve(database, 'second')).toBe(null);
    expect(database.run([]).degradedReason).toBe(null);
  });

  test('that lacks one order, the last, is noticed as well', () => {
    using folder = createFolder();
    let copy: Buffer;
    {
      using database = openDatabase(folder.path);
      copy = readFileSync(folder.path);
      expect(reserve(database, 'last')).toBe(null);
    }
    writeFileSync(folder.path, copy);
    using database = openDatabase(folder.path);
    expect(reserve(database, 'last')).toEqual(INCOMPLETE);
  });

  test('of the whole folder is noticed as well', () => {
    using backup = createBackup();
    const moved = join(backup.folder, 'moved');
    mkdirSync(moved);
    for (const end of ['', '.mark']) cpSync(backup.path + end, join(moved, `orders.db${end}`));
    using database = openDatabase(join(moved, 'orders.db'));
    expect(reserve(database, 'third')).toEqual(INCOMPLETE);
  });

  test('is noticed though it got the inode of the file, and came back with its mark', () => {
    // On a disk: a file system in memory gives an inode once only.
    const folder = mkdtempSync(join(tmpdir(), 'trading-graph-orders-'));
    const path = join(folder, 'orders.db');
    fill(path, KEYS.slice(0, 1));
    const [copy, mark] = [readFileSync(path), readFileSync(`${path}.mark`)];
    fill(path, KEYS.slice(1));
    const { ino } = statSync(path);
    for (let times = 0; times < 20; times += 1) {
      rmSync(path);
      writeFileSync(path, copy, { mode: 0o600 });
      if (statSync(path).ino === ino) break;
    }
    writeFileSync(`${path}.mark`, mark);
    {
      using database = openDatabase(path);
      expect(reserve(database, 'second')).toEqual(INCOMPLETE);
    }
    rmSync(folder, { recursive: true });
  });

  test.each([
    ['cp -a', ['cp', '-a', 'backup/.', 'data/']],
    ['cat', ['sh', '-c', 'cd backup && for file in *; do cat "$file" > "../data/$file"; done']],
  ])('of the whole folder that %s writes over it is noticed, its mark included', (_, command) => {
    using folder = createFolder();
    const path = join(folder.folder, 'data', 'orders.db');
    mkdirSync(join(folder.folder, 'data'));
    const run = ([program = '', ...args]: readonly string[]) =>
      execFileSync(program, args, { cwd: folder.folder });
    fill(path, KEYS.slice(0, 1));
    run(['cp', '-a', 'data', 'backup']);
    fill(path, KEYS.slice(1));
    const before = statSync(path, { bigint: true });
    run(command);
    const after = statSync(path, { bigint: true });
    expect([after.ino, after.birthtimeNs]).toEqual([before.ino, before.birthtimeNs]);
    for (let restart = 0; restart < 2; restart += 1) {
      using database = openDatabase(path);
      expect(reserve(database, 'second')).toEqual(INCOMPLETE);
      expect(database.run([]).degradedReason).toEqual(INCOMPLETE);
      expect(reserve(database, 'first')).toMatchObject({ outcome: acceptedAs('first') });
    }
  });

  test('that takes the place of the file in use is noticed at the next order', () => {
    using backup = createBackup();
    using database = openDatabase(backup.path);
    copyFileSync(backup.copy, backup.path);
    expect(reserve(database, 'second')).toContain('was replaced by an older copy');
    expect(find(database, 'second')).toContain('was replaced by an older copy');
  });

  test('in place of a lost file there is none: unknown keys are refused then too', () => {
    using folder = createFolder();
    fill(folder.path, KEYS);
    rmSync(folder.path);
    using database = openDatabase(folder.path);
    expect(reserve(database, 'first')).toEqual(INCOMPLETE);
  });

  test('is none that an earlier version wrote last, which counts its commits in the mark without their moment', () => {
    using folder = createFolder();
    fill(folder.path, KEYS);
    const mark = `${folder.path}.mark`;
    const count = readFileSync(mark, 'latin1').slice(0, 16);
    writeFileSync(mark, `${count} ${String(Number(count) - 1).padStart(16, '0')} 1\n`);
    const warnings: string[] = [];
    using _ = openDatabase(folder.path, { onWarn: (message) => warnings.push(message) });
    expect(warnings).toEqual([]);
  });

  test('that was not left behind by any commit is no older one', () => {
    using folder = createFolder();
    for (const key of KEYS) fill(folder.path, [key]);
    {
      using database = openDatabase(folder.path);
      expect(database.run([]).degradedReason).toBe(null);
      expect(reserve(database, 'third')).toBe(null);
    }
    // The mark may lag behind, after a power cut for instance.
    writeFileSync(`${folder.path}.mark`, '3');
    using again = openDatabase(folder.path);
    expect(reserve(again, 'fourth')).toBe(null);
  });
});

test('damaged records are dropped, and their keys come free, where the operator allows it', () => {
  using folder = createFolder();
  fill(folder.path, ['first', 'second']);
  const raw = new DatabaseSync(folder.path);
  raw.exec("UPDATE orders SET boot = 'b', at = '2999-01-01T00:00:00Z' WHERE key = 'second'");
  raw.close();
  openDatabase(folder.path).close();
  {
    using database = openDatabase(folder.path);
    expect(reserve(database, 'second')).toContain('is damaged');
    // However often it is retried, the outcome has nowhere to go.
    const reservation = reservationOf('second');
    const task = { do: 'settle', reservation, outcome: acceptedAs('second') } as const;
    expect(database.run([task]).answers).toEqual([null]);
    database.declareComplete();
  }
  using database = openDatabase(folder.path);
  expect(database.run([])).toMatchObject({ held: 1, degradedReason: null });
  expect(reserve(database, 'second')).toBe(null);
});

test('however many damaged records are the oldest, the others are forgotten in time', () => {
  using folder = createFolder();
  const clock = createMachineClock();
  const damaged = Array.from({ length: 30 }, (_, n) => `damaged ${n}`);
  fill(folder.path, [...damaged, 'old']);
  const raw = new DatabaseSync(folder.path);
  raw.exec("UPDATE orders SET uptimeMs = -1e15 WHERE key LIKE 'damaged%'");
  raw.close();
  clock.pass(RECORD_LIFE_MS);
  using database = openDatabase(folder.path, { clock });
  for (let times = 0; times < 4; times += 1) database.run([{ do: 'check' }]);
  expect(database.run([]).held).toBe(30);
});
