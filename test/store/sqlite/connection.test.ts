import { readdirSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { connect, makeFile, transact } from '../../../src/store/sqlite/connection.ts';
import { createFolder } from './order-files.ts';

function fillWith(database: DatabaseSync, name: string): void {
  database.exec('CREATE TABLE names (name TEXT)');
  database.prepare('INSERT INTO names VALUES (?)').run(name);
}

function namesIn(path: string) {
  using database = connect(path);
  return database.prepare('SELECT name FROM names').all();
}

test('of two that make the same file one wins, and both have that one', () => {
  using place = createFolder();
  makeFile(place.path, (slow) => {
    makeFile(place.path, (quick) => fillWith(quick, 'quick'));
    fillWith(slow, 'slow');
  });
  expect(namesIn(place.path)).toEqual([{ name: 'quick' }]);
  expect(readdirSync(place.folder).sort()).toEqual(['orders.db']);
});

test('a file that cannot be made leaves nothing behind', () => {
  using place = createFolder();
  const fill = () => {
    throw Object.assign(new Error('no'), { code: 'EIO' });
  };
  expect(() => makeFile(place.path, fill)).toThrow('no');
  expect(readdirSync(place.folder)).toEqual([]);
});

test('a transaction that throws leaves nothing, and the next one is taken', () => {
  using place = createFolder();
  makeFile(place.path, (database) => fillWith(database, 'first'));
  const database = connect(place.path);
  const add = () => database.exec("INSERT INTO names VALUES ('one')");
  expect(() =>
    transact(database, 'IMMEDIATE', 10, () => {
      add();
      throw new Error('no');
    }),
  ).toThrow('no');
  transact(database, 'IMMEDIATE', 10, add);
  database.close();
  expect(namesIn(place.path)).toEqual([{ name: 'first' }, { name: 'one' }]);
});
