/** The number of typos a word of this length may have: in a short word one typo matches every second word. */
function editsAllowed(length: number): number {
  return length < 4 ? 0 : length < 8 ? 1 : 2;
}

// From this length on a beginning may contain the typo: `micrsof` finds Microsoft.
const MIN_PREFIX_LENGTH = 6;
// A longer word is not one that a person typed, and would make the edit table large.
const MAX_WORD_LENGTH = 32;

/**
 * Tells whether a word with these letters, or the beginning of a long one, is within one or two edits of the given one: a letter
 * too many, too few, wrong, or two swapped. Null where the word is too short for any.
 */
export function typoTest(word: string): ((candidate: string, letters: number) => boolean) | null {
  const edits = editsAllowed(word.length);
  if (edits === 0 || word.length > MAX_WORD_LENGTH) return null;
  const fits = editTable(word, edits);
  const asBeginning = word.length >= MIN_PREFIX_LENGTH;
  const wanted = lettersIn(word);
  const shortest = word.length - edits;
  const longest = asBeginning ? Number.POSITIVE_INFINITY : word.length + edits;
  return (candidate, letters) => {
    // One edit replaces at most one letter, so the bit sets rule out nearly all words.
    let missing = wanted & ~letters;
    // Clears the lowest bit once for each letter that the edits may remove.
    for (let slip = 0; slip < edits; slip += 1) missing &= missing - 1;
    if (missing !== 0 || candidate.length < shortest || candidate.length > longest) return false;
    return fits(candidate, asBeginning);
  };
}

/** A bit for each letter of the word. */
export function lettersIn(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Rows of edit distances between the word and ever longer prefixes of a candidate; tells whether that is near enough. */
function editTable(word: string, edits: number) {
  const width = word.length + 1;
  // A candidate with more letters than this is too distant in any case.
  const rows = new Uint8Array((word.length + edits + 2) * width);
  for (let column = 0; column < width; column += 1) rows[column] = column;

  /** The row's smallest distance, which further letters only increase; far off the diagonal it is too large anyway. */
  function addRow(candidate: string, depth: number): number {
    const letter = candidate.charCodeAt(depth - 1);
    // NaN before the first letter, which equals none.
    const previousLetter = candidate.charCodeAt(depth - 2);
    const row = depth * width;
    const above = row - width;
    const first = Math.max(1, depth - edits);
    const last = Math.min(word.length, depth + edits);
    let left = first === 1 ? depth : edits + 1;
    rows[row + first - 1] = left;
    let nearest = left;
    for (let column = first; column <= last; column += 1) {
      const wanted = word.charCodeAt(column - 1);
      const replaced = (rows[above + column - 1] as number) + (wanted === letter ? 0 : 1);
      left = Math.min(replaced, left + 1, (rows[above + column] as number) + 1);
      if (wanted === previousLetter && word.charCodeAt(column - 2) === letter) {
        left = Math.min(left, (rows[above - width + column - 2] as number) + 1);
      }
      rows[row + column] = left;
      nearest = Math.min(nearest, left);
    }
    // The next row reads one cell further.
    if (last < word.length) rows[row + last + 1] = edits + 1;
    return nearest;
  }

  return function fits(candidate: string, asBeginning: boolean): boolean {
    for (let depth = 1; depth <= candidate.length; depth += 1) {
      if (addRow(candidate, depth) > edits) return false;
      const isEnough = asBeginning || depth === candidate.length;
      // A difference in length is at least as many edits, and no cell tells of it.
      const isNear = Math.abs(depth - word.length) <= edits;
      if (isEnough && isNear && (rows[depth * width + word.length] as number) <= edits) return true;
    }
    return false;
  };
}
