import { spawnSync } from 'node:child_process';
import fs, {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { copyOrderFile } from '../../../src/store/sqlite/copy-order-file.ts';
import { moveOrderFile } from '../../../src/store/sqlite/move-order-file.ts';
import { isHeld, setHold } from '../../../src/store/sqlite/order-hold.ts';
import {
  acceptedAs,
  createFolder,
  createMachineClock,
  fill,
  openDatabase,
  reservationOf,
  reserve,
} from './order-files.ts';

const clock = createMachineClock();
const move = (path: string, to: string, onPortion?: () => void) =>
  moveOrderFile(path, to, { clock, onWarn() {}, patienceMs: 0, ...(onPortion && { onPortion }) });
const settle = (key: string) => ({
  do: 'settle' as const,
  reservation: reservationOf(key),
  outcome: acceptedAs(key),
});
const reserved = (key: string) => ({ do: 'reserve' as const, reservation: reservationOf(key) });

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test('a file is moved while orders are taken, and lacks nothing at its new place', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  using database = openDatabase(folder.path);
  const unknown = {
    ...settle('unknown'),
    outcome: { kind: 'unknown', sentAtMs: 0, message: null } as const,
  };
  const keys = ['pending', 'unknown', 'released', 'taken again', 'settled'];
  database.run([...keys.map(reserved), unknown, settle('settled')]);
  const count = move(folder.path, to, () => {
    database.run([
      ...[settle('pending'), settle('unknown')],
      { do: 'release', reservation: reservationOf('released') },
      { do: 'release', reservation: reservationOf('taken again') },
    ]);
    expect(reserve(database, 'taken again')).toBe(null);
    database.run([
      { ...settle('taken again'), reservation: reservationOf('taken again', 'another') },
    ]);
    database.run([reserved('meanwhile'), settle('meanwhile')]);
  });
  expect(count).toBe(5);
  expect(readdirSync(folder.folder).sort()).toEqual([
    'moved.db',
    'moved.db-journal',
    'moved.db.mark',
    'orders.db-journal',
    'orders.db.mark',
    'orders.db.moved',
  ]);
  expect(statSync(to).mode & 0o777).toBe(0o600);
  using moved = openDatabase(to);
  expect(moved.run([])).toMatchObject({ held: 5, degradedReason: null, gapReason: null });
  for (const key of ['pending', 'unknown', 'settled', 'meanwhile']) {
    expect(reserve(moved, key)).toMatchObject({ outcome: acceptedAs(key) });
  }
  expect(reserve(moved, 'taken again')).toMatchObject({ id: 'another' });
  expect(reserve(moved, 'released')).toBe(null);
  expect(reserve(moved, 'new')).toBe(null);
});

test('whoever has the former file takes no order and says where it is, and none starts with it', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  fill(folder.path, ['key']);
  using database = openDatabase(folder.path);
  setHold(folder.path, true);
  expect(move(folder.path, to)).toBe(1);
  const where = `was moved to ${to}: set ORDER_STORE to that, or remove ${folder.path}.moved`;
  expect(reserve(database, 'new')).toBe(`the file of the order records ${where}`);
  expect(database.run([]).degradedReason).toContain(where);
  expect(() => openDatabase(folder.path)).toThrow(where);
  expect(() => openDatabase(folder.path, { mustExist: true, isInspection: true })).toThrow(where);
  for (const again of [move, copyOrderFile]) {
    expect(() => again(folder.path, join(folder.folder, 'again.db'))).toThrow(where);
  }
  expect(isHeld(to)).toBe(true);
  expect(isHeld(folder.path)).toBe(false);
  // Without the sign what begins there is known to lack records.
  rmSync(`${folder.path}.moved`);
  using begun = openDatabase(folder.path);
  expect(reserve(begun, 'key')).toEqual({ kind: 'gap', untilMs: null });
});

test('a file comes back to a place that it was moved from', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  fill(folder.path, ['key']);
  move(folder.path, to);
  fill(to, ['later']);
  expect(move(to, folder.path)).toBe(2);
  using back = openDatabase(folder.path);
  expect(back.run([])).toMatchObject({ held: 2, degradedReason: null, gapReason: null });
  expect(reserve(back, 'later')).toMatchObject({ outcome: acceptedAs('later') });
});

test('nothing is moved while an order is on its way, and nothing is left of the attempt', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  using database = openDatabase(folder.path, { clock });
  setHold(folder.path, true);
  database.run([reserved('key')]);
  expect(() => move(folder.path, to)).toThrow('orders are under way: hold them back first');
  expect(readdirSync(folder.folder).some((name) => name.includes('moved'))).toBe(false);
  expect(database.run([settle('key')]).degradedReason).toBe(null);
  expect(reserve(database, 'next')).toBe(null);
  expect(() => move(folder.path, to)).toThrow('orders are under way');
  // An outcome that never came is unknown in the new file too.
  clock.pass(10_000);
  expect(move(folder.path, to)).toBe(2);
});

test('a file that cannot be removed stays in use, and nothing is left of the attempt', () => {
  using folder = createFolder();
  using database = openDatabase(folder.path);
  const rm = fs.rmSync;
  vi.spyOn(fs, 'rmSync').mockImplementation((path, options) => {
    if (path === folder.path) throw Object.assign(new Error('of the test'), { code: 'EPERM' });
    rm(path, options);
  });
  syncBuiltinESMExports();
  expect(() => move(folder.path, join(folder.folder, 'moved.db'))).toThrow('cannot be written');
  expect(readdirSync(folder.folder).some((name) => name.includes('moved'))).toBe(false);
  expect(reserve(database, 'next')).toBe(null);
});

test('no file is written over, no link followed, and a damaged file stays where it is', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  expect(() => move(folder.path, to)).toThrow('does not exist');
  fill(folder.path, ['key']);
  writeFileSync(to, 'of somebody else');
  expect(() => move(folder.path, to)).toThrow('exists already');
  writeFileSync(join(folder.folder, 'another.db-journal'), 'of a commit that was cut off');
  expect(() => move(folder.path, join(folder.folder, 'another.db'))).toThrow(
    'another.db-journal exists already',
  );
  rmSync(join(folder.folder, 'another.db-journal'));
  for (const end of ['.hold', '.moved']) {
    expect(() => move(folder.path, `${folder.path}${end}`)).toThrow('begins with its own');
  }
  const link = join(folder.folder, 'link.db');
  symlinkSync(folder.path, link);
  expect(() => move(link, join(folder.folder, 'another.db'))).toThrow('is a symbolic link');
  {
    using database = new DatabaseSync(folder.path);
    database.exec("UPDATE orders SET outcome = 'null'");
  }
  expect(() => move(folder.path, join(folder.folder, 'another.db'))).toThrow('is damaged');
  expect(existsSync(folder.path)).toBe(true);
  expect(readdirSync(folder.folder).filter((name) => name.startsWith('another'))).toEqual([]);
});

test('the number of a record that is gone is given again, and the new one is not left behind', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  fill(folder.path, ['1', '2', '3']);
  const tomorrow = createMachineClock();
  tomorrow.pass(86_400_000);
  using database = openDatabase(folder.path, { clock: tomorrow });
  const onPortion = () => database.run([reserved('new'), settle('new')]);
  expect(moveOrderFile(folder.path, to, { clock: tomorrow, onWarn() {}, onPortion })).toBe(1);
  using moved = openDatabase(to, { clock: tomorrow });
  expect(reserve(moved, 'new')).toMatchObject({ outcome: acceptedAs('new') });
});

test('a copy stays one where it is moved, and a file that has lost a record stays where it is', () => {
  using folder = createFolder();
  const copy = join(folder.folder, 'copy.db');
  fill(folder.path, ['key']);
  copyOrderFile(folder.path, copy);
  fill(folder.path, ['later']);
  const to = join(folder.folder, 'moved.db');
  expect(move(copy, to)).toBe(1);
  using moved = openDatabase(to);
  expect(reserve(moved, 'later')).toEqual({ kind: 'gap', untilMs: null });
  {
    using database = new DatabaseSync(folder.path);
    database.exec('DELETE FROM orders WHERE id = 2');
  }
  const another = join(folder.folder, 'another.db');
  expect(() => move(folder.path, another)).toThrow('has 1 rows of 2, so it is damaged');
});

test('one of two moves at a time moves the file, and its sign stays', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  fill(folder.path, ['key']);
  const second = join(folder.folder, 'second.db');
  expect(() => move(folder.path, second, () => void move(folder.path, to))).toThrow(
    `was moved to ${to}`,
  );
  expect(() => openDatabase(folder.path)).toThrow(`was moved to ${to}`);
  expect(existsSync(second)).toBe(false);
  using moved = openDatabase(to);
  expect(moved.run([])).toMatchObject({ held: 1, gapReason: null });
});

test('nobody begins with the new file until it is whole, and it is held back as the former one is then', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  using database = openDatabase(folder.path);
  database.run([reserved('key')]);
  let asked = 0;
  const uptimeMs = () => {
    // Asked first for its age, while the new file is there.
    if (existsSync(to)) asked += 1;
    if (asked !== 1) return clock.uptimeMs() + 10_000;
    using early = new DatabaseSync(to, { timeout: 0 });
    expect(() => early.exec('BEGIN IMMEDIATE')).toThrow('locked');
    setHold(folder.path, true);
    return clock.uptimeMs();
  };
  expect(moveOrderFile(folder.path, to, { clock: { ...clock, uptimeMs }, onWarn() {} })).toBe(1);
  expect(isHeld(to)).toBe(true);
});

test.skipIf(process.getuid?.() !== 0)('root moves the file of another user, who can use it', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  fill(folder.path, ['key']);
  setHold(folder.path, true);
  chownSync(folder.path, 65_534, 65_534);
  move(folder.path, to);
  const names = readdirSync(folder.folder).filter((name) => name.includes('moved'));
  expect(names.sort()).toEqual([
    ...['moved.db', 'moved.db-journal', 'moved.db.hold', 'moved.db.mark', 'orders.db.moved'],
  ]);
  for (const name of names) expect(statSync(join(folder.folder, name)).uid).toBe(65_534);
});

test.each(['before', 'after'])(
  'a move that is killed %s the former file is removed leaves no two files in use',
  (when) => {
    using folder = createFolder();
    const place = join(folder.folder, 'place');
    mkdirSync(place);
    const to = join(place, 'moved.db');
    fill(folder.path, ['key']);
    const program = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { rmSync, fsyncSync } = fs;
      fs.fsyncSync = (descriptor) => {
        fsyncSync(descriptor);
        console.log(fs.readlinkSync('/proc/self/fd/' + descriptor));
      };
      fs.rmSync = (path, options) => {
        const isFormer = path === ${JSON.stringify(folder.path)};
        if (${when === 'after'} || !isFormer) rmSync(path, options);
        if (isFormer) process.kill(process.pid, 'SIGKILL');
      };
      syncBuiltinESMExports();
      const { moveOrderFile } = await import(${JSON.stringify(import.meta.resolve('../../../src/store/sqlite/move-order-file.ts'))});
      const { fill } = await import(${JSON.stringify(import.meta.resolve('./order-files.ts'))});
      const { machineClock } = await import(${JSON.stringify(import.meta.resolve('../../../src/store/sqlite/machine-clock.ts'))});
      moveOrderFile(${JSON.stringify(folder.path)}, ${JSON.stringify(to)}, {
        clock: machineClock, onWarn() {}, onPortion: () => fill(${JSON.stringify(folder.path)}, ['meanwhile']) });`;
    const killed = spawnSync(process.execPath, ['--input-type=module', '--eval', program]);
    expect(killed.signal).toBe('SIGKILL');
    const synced = [place, `${folder.path}.moved`, folder.folder];
    expect(String(killed.stdout)).toBe(`${synced.join('\n')}\n`);
    // A power cut may lose what was not flushed.
    rmSync(`${to}.mark`, { force: true });
    if (when === 'before') {
      fill(folder.path, ['later']);
      using former = openDatabase(folder.path);
      expect(former.run([])).toMatchObject({ held: 3, degradedReason: null, gapReason: null });
    } else expect(() => openDatabase(folder.path)).toThrow(`was moved to ${to}`);
    {
      using unfinished = openDatabase(to);
      expect(reserve(unfinished, 'later')).toEqual({ kind: 'gap', untilMs: null });
      for (const key of ['key', 'meanwhile']) {
        expect(reserve(unfinished, key)).toMatchObject({ outcome: acceptedAs(key) });
      }
      unfinished.declareComplete();
    }
    using declared = openDatabase(to);
    expect(reserve(declared, 'new')).toBe(null);
  },
);
