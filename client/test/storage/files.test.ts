import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFolder } from '../../../test/support/own-folder.ts';
import { files } from '../../src/storage/files.ts';
import { testStorageContract } from '../support/storage-contract.ts';

const own = ownFolder();

testStorageContract(async () => {
  const folder = join(own.path, 'made', 'when needed');
  return { storage: files(folder), reopen: async () => files(folder) };
});

test('only their owner can read the files', async () => {
  const folder = join(own.path, 'texts');
  await files(folder).set('key', 'text');
  const [name = ''] = await readdir(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
});

test('a folder that cannot be made rejects, and is tried again', async () => {
  const inTheWay = join(own.path, 'file');
  await writeFile(inTheWay, '');
  const storage = files(join(inTheWay, 'texts'));
  await expect(storage.set('key', 'text')).rejects.toThrow();
  await expect(storage.get('key')).rejects.toThrow();
  await rm(inTheWay);
  await storage.set('key', 'text');
  expect(await storage.get('key')).toBe('text');
});

test('a write that fails leaves the former text, and no file behind', async () => {
  const folder = own.path;
  const storage = files(folder);
  await storage.set('key', 'former');
  const [name = ''] = await readdir(folder);
  const path = join(folder, name);
  const content = await readFile(path);
  await rm(path);
  // No file can take the place of a folder that has something in it.
  await mkdir(join(path, 'in the way'), { recursive: true });
  await expect(storage.set('key', 'new')).rejects.toThrow();
  expect(await readdir(folder)).toEqual([name]);
  await rm(path, { recursive: true });
  await writeFile(path, content);
  expect(await storage.get('key')).toBe('former');
});

test('a write that was cut off is neither read nor listed, and removed in the end', async () => {
  const folder = own.path;
  await files(folder).set('key', 'text');
  const [name = ''] = await readdir(folder);
  const recent = join(folder, `${name}.00000000-0000-4000-8000-000000000001.tmp`);
  const old = join(folder, `${name}.00000000-0000-4000-8000-000000000002.tmp`);
  const another = join(folder, 'notes.tmp');
  for (const path of [recent, old, another]) await writeFile(path, '"key"\nhalf');
  for (const path of [old, another]) await utimes(path, 0, 0);
  const storage = files(folder);
  expect(await storage.get('key')).toBe('text');
  expect(await storage.keys('')).toEqual(['key']);
  const left = await readdir(folder);
  expect(left.toSorted()).toEqual(
    [name, `${name}.00000000-0000-4000-8000-000000000001.tmp`, 'notes.tmp'].toSorted(),
  );
});

test('a damaged file rejects and is not listed; the next write repairs it', async () => {
  const folder = own.path;
  const storage = files(folder);
  await storage.set('key', 'text');
  const [name = ''] = await readdir(folder);
  for (const damage of ['', 'rubbish', '"ke', 'null\ntext', '"other"\ntext']) {
    await writeFile(join(folder, name), damage);
    await expect(storage.get('key')).rejects.toThrow('damaged');
    expect(await storage.keys('k')).toEqual([]);
  }
  await storage.set('key', 'again');
  expect(await storage.get('key')).toBe('again');
});

test.each([[undefined], [''], [{ folder: './data' }], [new URL('file:///data')]])(
  'a folder that is no path is an error at once: %s',
  (folder) => {
    expect(() => files(folder as string)).toThrow(TypeError);
  },
);
