import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, test, vi } from 'vitest';
import { networkFileSystem } from '../../../src/store/sqlite/network-file-system.ts';
import { createFolder, fill, openDatabase } from './order-files.ts';

test.each([
  ['NFS', 0x6969, { name: 'NFS', isCertain: true }],
  ['CIFS, as a negative number', 0xff534d42 | 0, { name: 'CIFS', isCertain: true }],
  ['FUSE', 0x65735546, { name: 'FUSE', isCertain: false }],
  ['ext4', 0xef53, null],
])('%s is recognized by its type', (_, type, expected) => {
  expect(networkFileSystem('/', type)).toEqual(expected);
});

function moveTo(type: number): void {
  vi.spyOn(fs, 'statfsSync').mockReturnValue({ type } as ReturnType<typeof fs.statfsSync>);
  syncBuiltinESMExports();
}

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

test('a file that is there already is not opened on a network, by an operator or the service, and with a warning where it may be on one', () => {
  using folder = createFolder();
  fill(folder.path, ['key']);
  const bytes = fs.readFileSync(folder.path);
  moveTo(0x6969);
  for (const mustExist of [true, false]) {
    expect(() => openDatabase(folder.path, { mustExist })).toThrow('is on NFS, a network');
    expect(fs.readFileSync(folder.path).equals(bytes)).toBe(true);
  }
  moveTo(0x65735546);
  const warnings: string[] = [];
  using _ = openDatabase(folder.path, { onWarn: (message) => warnings.push(message) });
  expect(warnings).toEqual([expect.stringContaining('is on FUSE')]);
});
