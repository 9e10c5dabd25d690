import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { networkFileSystem } from '../../../src/store/sqlite/check-file-path.ts';

test.each([
  ['NFS', 0x6969, { name: 'NFS', isCertain: true }],
  ['CIFS, as a negative number', 0xff534d42 | 0, { name: 'CIFS', isCertain: true }],
  ['FUSE', 0x65735546, { name: 'FUSE', isCertain: false }],
  ['ext4', 0xef53, null],
  ['tmpfs', 0x01021994, null],
])('%s is recognized by its type', (_, type, expected) => {
  expect(networkFileSystem(type)).toEqual(expected);
});

test('a folder of this machine is on no network', () => {
  expect(networkFileSystem(statfsSync(tmpdir()).type)?.isCertain ?? false).toBe(false);
});
