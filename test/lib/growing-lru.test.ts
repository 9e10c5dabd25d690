import { expect, test } from 'vitest';
import { growingLru } from '../../src/lib/growing-lru.ts';

test('the entry that was used longest ago makes room, and is told of alone', () => {
  const disposed: string[] = [];
  const cache = growingLru<string, string>({
    maxEntries: 2,
    entryBytes: 100,
    onEvict: (value) => disposed.push(value),
  });
  cache.set('a', 'replaced');
  cache.set('a', 'first');
  cache.set('d', 'deleted');
  cache.delete('d');
  cache.set('b', 'second');
  cache.get('a');
  cache.set('c', 'third');
  expect([...cache.keys()].sort()).toEqual(['a', 'c']);
  expect(disposed).toEqual(['second']);
  expect(cache.calculatedSize).toBe(200);
});
