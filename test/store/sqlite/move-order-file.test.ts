import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
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
  expect(reserve(begun, 'key')).toEqual({ gapUntilMs: null });
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

test('no file is written over, no link followed, and a damaged file stays where it is', () => {
  using folder = createFolder();
  const to = join(folder.folder, 'moved.db');
  expect(() => move(folder.path, to)).toThrow('does not exist');
  fill(folder.path, ['key']);
  writeFileSync(to, 'of somebody else');
  expect(() => move(folder.path, to)).toThrow('exists already');
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
