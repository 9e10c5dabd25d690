import { expect, test } from 'vitest';
import { Cursors } from '../../../src/domain/positions/feed-view.ts';

test('a cursor identifies a version of the feed that wrote it', () => {
  const cursors = new Cursors();
  for (const version of [1, 35, 36, 1_000_000]) {
    expect(cursors.read(cursors.write(version))).toBe(version);
  }
});

test('cursors of another feed, and forged ones, are unknown', () => {
  const cursors = new Cursors();
  const cursor = cursors.write(7);
  const [name, seal] = cursor.split('.');
  const made = [
    new Cursors().write(7),
    `8.${seal}`,
    `0${name}.${seal}`,
    `${name}.${seal?.slice(1)}`,
    `${cursor}.`,
    `${cursor}x`,
    ` ${cursor}`,
    cursor.toUpperCase(),
    '',
    '.',
    '..',
    'null',
    '7',
    '💥'.repeat(1_000),
  ];
  for (const each of made) expect(cursors.read(each), each).toBeNull();
});
