import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { networkFileSystem } from '../../../src/store/sqlite/network-file-system.ts';
import { createFolder, fill, openDatabase } from './order-files.ts';

test.each([
  ['NFS', 0x6969, { name: 'NFS', isCertain: true }],
  ['CIFS, as a negative number', 0xff534d42 | 0, { name: 'CIFS', isCertain: true }],
  ['FUSE', 0x65735546, { name: 'FUSE', isCertain: false }],
  ['ext4', 0xef53, null],
  ['tmpfs', 0x01021994, null],
])('%s is recognized by its type', (_, type, expected) => {
  expect(networkFileSystem('/', type)).toEqual(expected);
});

test('a folder of this machine is on no network', () => {
  expect(networkFileSystem(tmpdir())?.isCertain ?? false).toBe(false);
});

describe('a file that is there already', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  function moveTo(type: number): void {
    vi.spyOn(fs, 'statfsSync').mockReturnValue({ type } as ReturnType<typeof fs.statfsSync>);
    syncBuiltinESMExports();
  }

  test.each([true, false])(
    'is not opened on a network, by an operator (%s) or the service',
    (mustExist) => {
      using folder = createFolder();
      fill(folder.path, ['key']);
      const bytes = fs.readFileSync(folder.path);
      moveTo(0x6969);
      expect(() => openDatabase(folder.path, { mustExist })).toThrow('is on NFS, a network');
      expect(fs.readFileSync(folder.path).equals(bytes)).toBe(true);
    },
  );

  test('is opened with a warning where its disk may be on a network', () => {
    using folder = createFolder();
    fill(folder.path, ['key']);
    moveTo(0x65735546);
    const warnings: string[] = [];
    using _ = openDatabase(folder.path, { onWarn: (message) => warnings.push(message) });
    expect(warnings).toEqual([expect.stringContaining('is on FUSE')]);
  });
});
