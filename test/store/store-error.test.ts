import { expect, test } from 'vitest';
import { toStoreError } from '../../src/store/store-error.ts';

test('a full disk, a read-only one and a missing right are described in plain words', () => {
  for (const [code, reason] of [
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
  ] as const) {
    const error = Object.assign(new Error(`${code}: in words for programmers`), { code });
    expect(toStoreError(error).message).toBe(reason);
  }
});

test('the reason of a store is used as it is, on one line', () => {
  expect(toStoreError(new Error('damaged in line 3:\n  restore it')).message).toBe(
    'damaged in line 3: restore it',
  );
});
