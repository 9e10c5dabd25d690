import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import {
  acceptedAs,
  createFolder,
  createMachineClock,
  openDatabase,
  reserve,
} from './order-files.ts';

// As the first version wrote it, to the letter: a file that a later one cannot read loses a day of orders.
const WRITTEN = `
CREATE TABLE orders (
  id INTEGER PRIMARY KEY, login TEXT NOT NULL, key TEXT NOT NULL, keyHash REAL NOT NULL,
  reservation TEXT NOT NULL, input TEXT NOT NULL, pendingMs REAL NOT NULL, outcome TEXT,
  at TEXT NOT NULL, boot TEXT NOT NULL, uptimeMs REAL NOT NULL, digest TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX orders_key ON orders (login, key);
CREATE UNIQUE INDEX orders_hash ON orders (keyHash);
CREATE TABLE state (
  writes REAL NOT NULL, rows REAL NOT NULL, file TEXT NOT NULL, incompleteFrom TEXT,
  digest TEXT NOT NULL
) STRICT;
INSERT INTO orders VALUES (1, '1001', 'key', 3161753788133513, 'reservation of key', 'input of key', 10000,
  '{"kind":"accepted","orderId":"order key","message":null}',
  '2026-11-20T12:00:00.000Z', 'first boot', 1000000, '43e30fa2bd02f856ef184a0baf3e9cba');
INSERT INTO orders VALUES (2, '1001', 'pending', 2415981027946620, 'reservation of pending', 'input of pending',
  10000, NULL, '2026-11-20T12:00:00.000Z', 'first boot', 1000000, '2b80bce8de055dbd262ee992bff548e3');
INSERT INTO state VALUES (7, 2, '1 0', NULL, 'a7df7abdbb9147619d6eb78a4f7e3ad2f6945c4aeaba96a7ac5b7ae574488871');
PRAGMA application_id = 1413959506; PRAGMA user_version = 1`;

test('a file of the first version is read, with every digest in it', () => {
  using folder = createFolder();
  const raw = new DatabaseSync(folder.path);
  raw.exec(WRITTEN);
  raw.close();
  const warnings: string[] = [];
  const onWarn = (warning: string) => void warnings.push(warning);
  using database = openDatabase(folder.path, { clock: createMachineClock(), onWarn });
  expect(reserve(database, 'key')).toEqual({
    id: 'reservation of key',
    inputDigest: 'input of key',
    outcome: acceptedAs('key'),
    reservedAtMs: Date.parse('2026-11-20T12:00:00Z'),
    pendingMs: 0,
  });
  expect(reserve(database, 'pending')).toMatchObject({ outcome: null, pendingMs: 10_000 });
  expect(database.run([]).held).toBe(2);
  // It is not on the inode that it names.
  expect(warnings).toEqual([expect.stringContaining('is a copy')]);
});
