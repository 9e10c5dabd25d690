import { expect, test } from 'vitest';
import { reasonOf } from '../../src/lib/reason-of.ts';

test('a full disk, a read-only one and a missing right are described in plain words', () => {
  for (const [code, reason] of [
    ['ENOSPC', 'the disk is full'],
    ['EROFS', 'the file system is read-only'],
    ['EACCES', 'permission denied'],
  ] as const) {
    const error = Object.assign(new Error(`${code}: in words for programmers`), { code });
    expect(reasonOf(error)).toBe(reason);
  }
});

test('the reason of a store is used as it is, on one line', () => {
  expect(reasonOf(new Error('damaged in line 3:\n  restore it'))).toBe(
    'damaged in line 3: restore it',
  );
});
