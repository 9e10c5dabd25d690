import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { toStoreError } from '../../src/store/store-error.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trading-graph-store-'));
});
afterEach(() => rm(folder, { recursive: true }));

function reasonOf(attempt: () => void): string {
  try {
    attempt();
  } catch (error) {
    const storeError = toStoreError(error);
    expect(storeError.cause).toBe(error);
    return storeError.message;
  }
  throw new Error('nothing was thrown');
}

function use(path: string): void {
  using database = new DatabaseSync(path, { timeout: 0 });
  database.exec('CREATE TABLE IF NOT EXISTS records (id)');
}

test('what SQLite throws is said in plain words', async () => {
  await writeFile(join(folder, 'text'), 'no database\n'.repeat(1_000));
  expect(reasonOf(() => use(join(folder, 'text')))).toBe('the file is something else, or damaged');
  expect(reasonOf(() => use(join(folder, 'none', 'orders')))).toBe('it cannot be opened');

  const path = join(folder, 'orders');
  using holder = new DatabaseSync(path);
  holder.exec('BEGIN EXCLUSIVE');
  expect(reasonOf(() => use(path))).toBe('another process holds it');
});

test('a full disk, a read-only one and a missing right are said in plain words', () => {
  for (const [code, reason] of [
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
  ] as const) {
    const error = Object.assign(new Error(`${code}: in words for programmers`), { code });
    expect(toStoreError(error).message).toBe(reason);
  }
});

test('a store that says why itself is taken at its word, on one line', () => {
  expect(toStoreError(new Error('damaged in line 3:\n  restore it')).message).toBe(
    'damaged in line 3: restore it',
  );
});
