import { copyFileSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { copyOrderFile, makeCopy, openSource } from '../../../src/store/sqlite/copy-order-file.ts';
import { setHold } from '../../../src/store/sqlite/order-hold.ts';
import {
  acceptedAs,
  createFolder,
  createMachineClock,
  fill,
  openDatabase,
  reservationOf,
  reserve,
} from './order-files.ts';

const PORTION = 250;
const of = (key: string) => ({ do: 'reserve', reservation: reservationOf(key) }) as const;

test('a copy is made while orders are taken, which wait for none of it, and refuses what came after it', () => {
  using folder = createFolder();
  const copy = join(folder.folder, 'copy.db');
  using database = openDatabase(folder.path, { max: 10_000 });
  const keys = Array.from({ length: 3 * PORTION + 100 }, (_, n) => `key ${n}`);
  database.run(keys.map(of));
  const released = reservationOf('key 7');
  let portions = 0;
  const copied = copyOrderFile(folder.path, copy, () => {
    portions += 1;
    // The disk has nothing to write twice.
    expect(readdirSync(folder.folder).filter((name) => /^copy.*journal/.test(name))).toEqual([]);
    // Between two portions nothing is locked: each of these is in the file at once.
    expect(reserve(database, `meanwhile ${portions}`)).toBe(null);
    const outcome = acceptedAs(`key ${portions}`);
    database.run([{ do: 'settle', reservation: reservationOf(`key ${portions}`), outcome }]);
    if (portions > 1) return;
    database.run([{ do: 'release', reservation: released }]);
    expect(reserve(database, 'key 7')).toBe(null);
  });
  expect(portions).toBe(4);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  // Orders reserved before the last portion was read are in it, and the key that was taken again is in it once.
  expect(copied).toBe(keys.length + 3);
  using restored = openDatabase(copy, { max: 10_000 });
  expect(restored.run([])).toMatchObject({
    held: copied,
    degradedReason: null,
    gapReason: expect.stringContaining('may be incomplete'),
  });
  expect(reserve(restored, 'meanwhile 4')).toEqual({ kind: 'gap', untilMs: null });
  expect(reserve(restored, 'key 5')).toMatchObject({ inputDigest: 'input of key 5' });
  expect(reserve(restored, 'key 7')).toMatchObject({ id: 'another' });
  // The original is no copy for it.
  expect(database.run([])).toMatchObject({ degradedReason: null, gapReason: null });
});

test('a copy catches up with numbers that are given again, and writes nothing that it has', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'copy.db');
  using database = openDatabase(folder.path);
  database.run(['1', '2', '3'].map(of));
  using source = openSource(folder.path);
  const rows = makeCopy(source, to, undefined);
  using copy = new DatabaseSync(to);
  const keys = () => copy.prepare('SELECT key FROM orders ORDER BY id').all();
  for (const [key, next] of [
    ['3', '4'],
    ['4', '5'],
  ] as const) {
    database.run([{ do: 'release', reservation: reservationOf(key) }]);
    rows.catchUp(copy);
    database.run([of(next)]);
    rows.catchUp(copy);
    expect(keys()).toEqual(['1', '2', next].map((each) => ({ key: each })));
    expect(rows.rows).toBe(3);
  }
  const changes = () => copy.prepare('SELECT total_changes() AS total').get();
  const before = changes();
  rows.catchUp(copy);
  expect(changes()).toEqual(before);
});

const DAY_MS = 86_400_000;

test.each([
  ['copied while it was in use', copyOrderFile],
  ['copied as a file', copyFileSync],
])(
  'a file that was %s is a copy when it is put back, however long after somebody looked at it',
  (_, copyFile) => {
    using folder = createFolder();
    const copy = join(folder.folder, 'copy.db');
    const clock = createMachineClock();
    fill(folder.path, ['key']);
    copyFile(folder.path, copy);
    for (const mustExist of [true, false]) {
      using looked = openDatabase(copy, { clock, mustExist, isInspection: true });
      expect(looked.run([]).gapReason).toContain('may be incomplete');
    }
    clock.pass(DAY_MS + 60_000);
    fill(folder.path, ['later']);
    for (const end of ['', '.mark']) rmSync(`${folder.path}${end}`);
    renameSync(copy, folder.path);
    using restored = openDatabase(folder.path, { clock });
    expect(reserve(restored, 'later')).toEqual({ kind: 'gap', untilMs: null });
  },
);

test('a copy that was looked at often is one also where it is written over the file that it is of', () => {
  using folder = createFolder();
  const copy = join(folder.folder, 'copy.db');
  const clock = createMachineClock();
  fill(folder.path, ['key']);
  copyFileSync(folder.path, copy);
  fill(folder.path, ['later']);
  // Each look is a change, and the copy has more of them in the end.
  for (let looks = 0; looks < 20; looks += 1) {
    openDatabase(copy, { clock, mustExist: true, isInspection: true }).close();
  }
  clock.pass(DAY_MS + 60_000);
  copyFileSync(copy, folder.path);
  using restored = openDatabase(folder.path, { clock });
  expect(reserve(restored, 'later')).toEqual({ kind: 'gap', untilMs: null });
});

test('a copy that its operator calls complete is one no more', () => {
  using folder = createFolder();
  const copy = join(folder.folder, 'copy.db');
  fill(folder.path, ['key']);
  copyOrderFile(folder.path, copy);
  {
    using looked = openDatabase(copy, { mustExist: true, isInspection: true });
    looked.declareComplete();
  }
  using served = openDatabase(copy);
  expect(served.run([]).gapReason).toBe(null);
  expect(reserve(served, 'new')).toBe(null);
});

test('a link is refused, by whoever opens it and by whoever holds orders back at it', () => {
  using folder = createFolder();
  fill(folder.path, ['key']);
  const link = join(folder.folder, 'link.db');
  symlinkSync(folder.path, link);
  for (const act of [() => openDatabase(link), () => setHold(link, true)]) {
    expect(act).toThrow('is a symbolic link: name the file that it leads to');
  }
  expect(readdirSync(folder.folder).filter((name) => name.startsWith('link'))).toEqual(['link.db']);
});

test('a copy that has no place says so of itself, and not of the file', () => {
  using folder = createFolder();
  fill(folder.path, ['key']);
  const copy = join(folder.folder, 'none', 'copy.db');
  expect(() => copyOrderFile(folder.path, copy)).toThrow(`is not copied: ${copy} cannot be`);
});

test('no file is written over, and nothing is left of a copy that fails', () => {
  using folder = createFolder();
  const copy = join(folder.folder, 'copy.db');
  expect(() => copyOrderFile(folder.path, copy)).toThrow('does not exist');
  fill(folder.path, ['key']);
  expect(copyOrderFile(folder.path, copy)).toBe(1);
  expect(() => copyOrderFile(folder.path, copy)).toThrow('exists already');
  {
    using database = new DatabaseSync(folder.path);
    database.exec("UPDATE orders SET outcome = 'null'");
  }
  expect(() => copyOrderFile(folder.path, join(folder.folder, 'another.db'))).toThrow('is damaged');
  expect(readdirSync(folder.folder).filter((name) => name.startsWith('another'))).toEqual([]);
});
