import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SqliteFile, type SqliteFileOptions } from '../../../src/store/sqlite/sqlite-file.ts';

function createFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'trading-graph-file-'));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

const common = {
  ...{ applicationId: 7, version: 1, schema: 'CREATE TABLE names (name TEXT)' },
  onWarn() {},
};

test('of two that make the same file one wins, and both have that one', () => {
  using place = createFolder();
  const path = join(place.folder, 'file.db');
  const options = (name: string, first: () => void): SqliteFileOptions => ({
    ...{ ...common, path },
    fill(database) {
      first();
      database.prepare('INSERT INTO names VALUES (?)').run(name);
    },
  });
  let quick: SqliteFile | undefined;
  const slow = new SqliteFile(
    options('slow', () => {
      quick = new SqliteFile(options('quick', () => {}));
    }),
  );
  const names = slow.database.prepare('SELECT name FROM names').all();
  expect(names).toEqual([{ name: 'quick' }]);
  expect(slow.inode).toBe(quick?.inode);
  slow.close();
  quick?.close();
  expect(readdirSync(place.folder).sort()).toEqual(['file.db']);
});

test('a file that cannot be made leaves nothing behind', () => {
  using place = createFolder();
  const path = join(place.folder, 'file.db');
  const fill = () => {
    throw new Error('no');
  };
  expect(() => new SqliteFile({ ...common, path, fill })).toThrow('cannot be used: no');
  expect(readdirSync(place.folder)).toEqual([]);
});

test('a transaction that throws leaves nothing, and the next one is taken', () => {
  using place = createFolder();
  const file = new SqliteFile({ ...common, path: join(place.folder, 'file.db'), fill() {} });
  const add = () => file.database.exec("INSERT INTO names VALUES ('one')");
  expect(() =>
    file.transact('IMMEDIATE', 10, () => {
      add();
      throw new Error('no');
    }),
  ).toThrow('cannot be used: no');
  file.transact('IMMEDIATE', 10, add);
  expect(file.database.prepare('SELECT count(*) AS count FROM names').get()).toEqual({ count: 1 });
  file.close();
});
