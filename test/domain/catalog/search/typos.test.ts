import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findTypos } from '../../../../src/domain/catalog/search/typos.ts';
import { lettersIn } from '../../../../src/domain/catalog/search/word-index.ts';

/** Optimal string alignment distance, computed over the full table. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let j = 0; j <= b.length; j += 1) (rows[0] as number[])[j] = j;
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, at(i - 2, j - 2) + 1);
      }
      (rows[i] as number[])[j] = best;
    }
  }
  return at(a.length, b.length);
}

function expected(words: readonly string[], word: string): string[] {
  const edits = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
  if (edits === 0) return [];
  return words.filter((candidate) => {
    if (distance(word, candidate) <= edits) return true;
    if (word.length < 6) return false;
    for (let end = 1; end < candidate.length; end += 1) {
      if (distance(word, candidate.slice(0, end)) <= edits) return true;
    }
    return false;
  });
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 12 });

test('finds exactly the words within the edits that a length allows', () => {
  fc.assert(
    fc.property(fc.uniqueArray(word, { maxLength: 40 }), word, (list, typed) => {
      // Chance alone seldom makes a neighbour of the word.
      const near = [`${typed}a`, `b${typed}`, `cb${typed}`, typed.slice(1), typed.slice(0, -2)];
      const words = [...new Set([...list, ...near])].toSorted();
      const found: string[] = [];
      findTypos({ words, letters: Int32Array.from(words, lettersIn) }, typed, (at) =>
        found.push(words[at] as string),
      );
      expect(found).toEqual(expected(words, typed));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  [32, [0]],
  [33, []],
])('a word of %i letters finds %j: the limit is 32', (length, expected) => {
  const word = 'a'.repeat(length);
  const found: number[] = [];
  findTypos({ words: [word], letters: Int32Array.of(lettersIn(word)) }, word, (at) =>
    found.push(at),
  );
  expect(found).toEqual(expected);
});
