// From this length on a beginning may contain the typo: `micrsof` finds Microsoft.
const MIN_PREFIX_LENGTH = 6;
// A longer word is not one that a person typed.
const MAX_WORD_LENGTH = 32;

/** In a short word one typo would match every second word. */
function editsAllowed(length: number): number {
  if (length < 4 || length > MAX_WORD_LENGTH) return 0;
  return length < 8 ? 1 : 2;
}

/**
 * Tells whether a word, or the beginning of a long one, is within one or two edits of the given one: a letter too
 * many, too few, wrong, or two swapped. Null where the word is too short for any.
 */
export function typoTest(word: string): ((candidate: string, letters: number) => boolean) | null {
  const edits = editsAllowed(word.length);
  if (edits === 0) return null;
  const wanted = lettersOf(word);
  const asBeginning = word.length >= MIN_PREFIX_LENGTH;
  return (candidate, letters) => {
    // One edit replaces at most one letter, so the bit sets rule out nearly all words.
    let missing = wanted & ~letters;
    for (let edit = 0; edit < edits; edit += 1) missing &= missing - 1;
    if (missing !== 0 || candidate.length < word.length - edits) return false;
    if (!asBeginning && candidate.length > word.length + edits) return false;
    return isWithin(word, candidate, edits, asBeginning);
  };
}

/** A bit set of a word's letters. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** The edit distance with swaps, row by row for each letter of the candidate, as far as it can still be small enough. */
function isWithin(word: string, candidate: string, edits: number, asBeginning: boolean): boolean {
  let before: number[] = [];
  let above = Array.from({ length: word.length + 1 }, (_none, column) => column);
  for (let depth = 1; depth <= candidate.length; depth += 1) {
    const letter = candidate[depth - 1];
    const row = [depth];
    let nearest = depth;
    for (let column = 1; column <= word.length; column += 1) {
      const wanted = word[column - 1];
      let distance = Math.min(
        (above[column - 1] ?? 0) + (wanted === letter ? 0 : 1),
        (above[column] ?? 0) + 1,
        (row[column - 1] ?? 0) + 1,
      );
      const isSwapped =
        depth > 1 && column > 1 && wanted === candidate[depth - 2] && word[column - 2] === letter;
      if (isSwapped) distance = Math.min(distance, (before[column - 2] ?? 0) + 1);
      row.push(distance);
      nearest = Math.min(nearest, distance);
    }
    if ((asBeginning || depth === candidate.length) && (row[word.length] ?? 0) <= edits)
      return true;
    // Further letters only increase the smallest distance.
    if (nearest > edits) return false;
    before = above;
    above = row;
  }
  return false;
}
