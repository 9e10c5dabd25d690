import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { CLOCKS_DIFFER_MS, KEY_AHEAD_MS } from '../../../src/store/order-gap.ts';
import { RECORD_LIFE_MS, RENAMED } from '../../../src/store/order-records.ts';
import { checkFilePath } from '../../../src/store/sqlite/check-file-path.ts';
import { openOrderFile } from '../../../src/store/sqlite/order-file.ts';
import { rowDigest, SQL, toContent } from '../../../src/store/sqlite/order-rows.ts';
import { accountNamed } from '../../support/accounts.ts';
import { mayMount, mountSmallDisk } from '../../support/night/small-disk.ts';
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

const INCOMPLETE = { kind: 'gap', untilMs: null };
const GAP = expect.stringContaining('may be incomplete');

function find(database: ReturnType<typeof openDatabase>, key: string) {
  return answerTo(database, { do: 'find', account: accountNamed('1001'), key });
}

test('accounts named as before have their former gap, and another one where an earlier version recorded an order by other names', () => {
  using folder = createFolder();
  const clock = createMachineClock();
  const warnings: string[] = [];
  const options = { clock, onWarn: (warning: string) => void warnings.push(warning) };
  const start = (accounts: string) => {
    clock.pass(1_000);
    return openDatabase(folder.path, { ...options, accounts });
  };
  {
    using before = start('right');
    reserve(before, 'first');
  }
  start('wrong').close();
  {
    using mended = start('right');
    expect(mended.run([]).gapReason).toBe(null);
    mended.declareIncomplete();
  }
  start('wrong').close();
  expect(warnings.splice(0)).toHaveLength(2);
  {
    using mended = start('right');
    expect(mended.run([]).gapReason).toEqual(GAP);
    mended.declareComplete();
  }
  expect(warnings).toEqual([]);
  start('wrong').close();
  const file = openOrderFile({ ...options, path: folder.path, accounts: 'wrong' });
  file.transact('IMMEDIATE', 0, () => {
    const content = toContent(reservationOf('k'), clock);
    file.database.prepare(SQL.insert).run({ ...content, digest: rowDigest(content) });
    file.state.rows += 1;
    file.state.writes += 1;
  });
  file.close();
  using mended = start('right');
  expect(mended.run([]).gapReason).toEqual(GAP);
});

test('an order is settled by the process that sent it, though another one has named the accounts otherwise meanwhile', () => {
  using folder = createFolder();
  const clock = createMachineClock();
  using first = openDatabase(folder.path, { clock, accounts: 'right' });
  for (const key of ['settled', 'released']) expect(reserve(first, key)).toBe(null);
  openDatabase(folder.path, { clock, accounts: 'wrong' }).close();
  expect(reserve(first, 'new')).toBe(RENAMED);
  const outcome = acceptedAs('settled');
  answerTo(first, { do: 'settle', reservation: reservationOf('settled', 'another'), outcome });
  answerTo(first, { do: 'release', reservation: reservationOf('released', 'another') });
  using other = openDatabase(folder.path, { clock, accounts: 'wrong' });
  expect(find(other, 'settled')).toMatchObject({ outcome });
  expect(other.run([]).held).toBe(1);
});

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

test('a damaged record is told, and makes room for no other, whatever its age says', () => {
  using folder = createFolder();
  const clock = createMachineClock();
  const warnings: string[] = [];
  const options = { clock, maxPerAccount: 4, onWarn: (text: string) => void warnings.push(text) };
  {
    using database = openDatabase(folder.path, options);
    for (const key of ['a', 'b']) expect(reserve(database, key)).toBe(null);
    expect(database.run([]).degradedReason).toBe(null);
  }
  const file = openOrderFile({ ...options, path: folder.path });
  file.transact('IMMEDIATE', 0, () => {
    file.database.exec(`UPDATE orders SET outcome = '{"kind":"accepted"}' WHERE id = 1`);
    file.state.writes += 1;
  });
  file.close();
  clock.pass(1_000);
  using database = openDatabase(folder.path, options);
  expect(warnings.join()).toContain('row 1 does not match its digest');
  expect(database.run([]).degradedReason).toBe('order records are damaged');
  const full = { kind: 'share', whose: 'token', freeInMs: RECORD_LIFE_MS };
  expect(reserve(database, 'c')).toEqual(full);
  clock.pass(RECORD_LIFE_MS);
  expect(reserve(database, 'c')).toBe(null);
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
  });

  test('that has expired makes room for its account, however many others expired before it', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    const of = (account: string, key: string) =>
      ({
        do: 'reserve',
        reservation: { ...reservationOf(key), account: accountNamed(account) },
      }) as const;
    using database = openDatabase(folder.path, { clock, maxPerAccount: 3 });
    database.run(Array.from({ length: 200 }, (_, n) => of(`other ${n}`, 'key')));
    clock.pass(1_000);
    database.run([of('1', 'a'), of('1', 'b')]);
    clock.pass(5_000);
    const full = database.run([of('1', 'c'), of('1', 'd'), of('2', 'd')]);
    const freeInMs = RECORD_LIFE_MS - 5_000;
    expect(full.answers).toEqual([null, { kind: 'share', whose: 'account', freeInMs }, null]);
    clock.pass(freeInMs);
    expect(database.run([of('1', 'e'), of('1', 'f'), of('1', 'g')]).answers).toEqual([
      null,
      null,
      { kind: 'share', whose: 'account', freeInMs: 5_000 },
    ]);
    expect(answerTo(database, of('1', 'c'))).toMatchObject({ id: 'reservation of c' });
  });

  test('gets no older by a corrected date, ages by it over a restart of the machine, and never below nothing', () => {
    using folder = createFolder();
    const clock = createMachineClock();
    const startedMs = clock.nowMs();
    openDatabase(folder.path, { clock }).close();
    {
      using database = openDatabase(folder.path, { clock });
      expect(reserve(database, 'key')).toBe(null);
      clock.setDate(startedMs + 9 * RECORD_LIFE_MS);
      expect(reserve(database, 'key')).toMatchObject({ id: 'another' });
      using other = openDatabase(folder.path, { clock });
      expect(reserve(other, 'key')).toMatchObject({ id: 'another' });
    }
    const rebooted = { ...clock, boot: 'second boot', uptimeMs: () => 5 };
    clock.setDate(startedMs - 60_000);
    using database = openDatabase(folder.path, { clock: rebooted });
    // The process of its order is dead.
    expect(find(database, 'key')).toMatchObject({ pendingMs: 0 });
    clock.setDate(startedMs + RECORD_LIFE_MS - 1);
    expect(find(database, 'key')).toMatchObject({ pendingMs: 0 });
    clock.setDate(startedMs + RECORD_LIFE_MS);
    // Nothing ends by a date that the gateway does not confirm.
    for (const skewMs of [null, -RECORD_LIFE_MS, 60_001]) {
      const unsure = { ...rebooted, skewMs: () => skewMs };
      using other = openDatabase(folder.path, { clock: unsure });
      expect(reserve(other, 'key')).toMatchObject({ pendingMs: 0 });
    }
    expect(find(database, 'key')).toBe(null);
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
    await checkFilePath(path, 'now');
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

  test.each<[string, string | null]>([
    ['is empty', ''],
    ['is no database', 'my thesis, and it is rather long\n'.repeat(100)],
    ['is no database', 'short'],
    ["is no file of this program's", null],
  ])('that %s stops the start and is left alone', (problem, text) => {
    using folder = createFolder();
    if (text !== null) writeFileSync(folder.path, text, { mode: 0o644 });
    else {
      using raw = new DatabaseSync(folder.path);
      raw.exec('CREATE TABLE recipes (name TEXT)');
      chmodSync(folder.path, 0o644);
    }
    const before = readFileSync(folder.path);
    expect(() => openDatabase(folder.path)).toThrow(problem);
    expect(readFileSync(folder.path)).toEqual(before);
    expect(statSync(folder.path).mode & 0o777).toBe(0o644);
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
      expect(database.run([]).gapReason).toEqual(GAP);
      expect(reserve(database, 'first')).toMatchObject({ outcome: acceptedAs('first') });
      clock.pass(RECORD_LIFE_MS / 3 - 1);
    }
    using database = openDatabase(backup.path, { clock });
    // Its key may have been made by a clock that was ahead.
    clock.pass(3 + KEY_AHEAD_MS + CLOCKS_DIFFER_MS - 1);
    expect(reserve(database, 'second')).toEqual(INCOMPLETE);
    clock.pass(1);
    expect(reserve(database, 'second')).toBe(null);
    expect(database.run([]).degradedReason).toBe(null);
  });

  test('that was found by a date two days behind refuses unknown keys after the next boot too, until that is surely past', () => {
    using backup = createBackup();
    const clock = createMachineClock();
    const startedMs = clock.nowMs();
    const unmeasured = { ...clock, boot: 'second boot', uptimeMs: () => 5, skewMs: () => null };
    copyFileSync(backup.copy, backup.path);
    clock.setDate(startedMs - 2 * RECORD_LIFE_MS);
    openDatabase(backup.path, { clock: unmeasured }).close();
    clock.setDate(startedMs);
    using database = openDatabase(backup.path, {
      clock: { ...clock, boot: 'third boot', uptimeMs: () => 5 },
    });
    expect(reserve(database, 'second')).toEqual(INCOMPLETE);
    clock.setDate(startedMs + RECORD_LIFE_MS + KEY_AHEAD_MS + CLOCKS_DIFFER_MS);
    expect(reserve(database, 'second')).toBe(null);
  });

  test('that lacks one order, the last, and one of the whole folder are noticed as well', () => {
    using folder = createFolder();
    const moved = join(folder.folder, 'moved');
    mkdirSync(moved);
    let copy: Buffer;
    {
      using database = openDatabase(folder.path);
      copy = readFileSync(folder.path);
      expect(reserve(database, 'last')).toBe(null);
    }
    for (const end of ['', '.mark']) cpSync(folder.path + end, join(moved, `orders.db${end}`));
    using whole = openDatabase(join(moved, 'orders.db'));
    expect(reserve(whole, 'another')).toEqual(INCOMPLETE);
    writeFileSync(folder.path, copy);
    using database = openDatabase(folder.path);
    expect(reserve(database, 'last')).toEqual(INCOMPLETE);
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
      expect(database.run([]).gapReason).toEqual(GAP);
      expect(reserve(database, 'first')).toMatchObject({ outcome: acceptedAs('first') });
    }
  });

  test('that takes the place of the file in use is noticed at the next order, and so is that a lost file has none', () => {
    using backup = createBackup();
    {
      using database = openDatabase(backup.path);
      copyFileSync(backup.copy, backup.path);
      expect(reserve(database, 'second')).toContain('was replaced by an older copy');
      expect(find(database, 'second')).toContain('was replaced by an older copy');
    }
    rmSync(backup.path);
    using database = openDatabase(backup.path);
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

test.runIf(mayMount)(
  'on a full disk orders are refused, by one line and for as long as there is no room, though a check can be written',
  async () => {
    await using disk = await mountSmallDisk();
    const warnings: string[] = [];
    using database = openDatabase(join(disk.folder, 'orders.db'), {
      onWarn: (message) => warnings.push(message),
    });
    const checked = () => database.run([{ do: 'check' }]).degradedReason;
    // Enough for the journal of one page.
    await disk.fill(12_288);
    // The first orders find room in pages that are there.
    for (let n = 0; checked() === null && n < 200; n += 1) reserve(database, `filling ${n}`);
    const refusals: unknown[] = [];
    for (let second = 0; second < 10; second += 1) {
      expect(checked()).toContain('cannot grow');
      refusals.push(reserve(database, `refused ${second}`));
    }
    expect(refusals).toEqual(
      Array(10).fill({ kind: 'unused', reason: expect.stringContaining('cannot grow') }),
    );
    expect(warnings).toHaveLength(1);
    await disk.free();
    expect(checked()).toBe(null);
    expect(reserve(database, 'after')).toBe(null);
    expect(warnings).toEqual([
      expect.stringContaining('cannot grow'),
      expect.stringContaining('can be used again'),
    ]);
  },
);
