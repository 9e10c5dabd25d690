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

/** Tells whether a candidate, or a beginning of it, is so near: by rows of distances between the word and its ever longer beginnings. */
function editTable(word: string, edits: number) {
  const width = word.length + 1;
  // A candidate with more letters than this is too distant in any case.
  const rows = new Uint8Array((word.length + edits + 2) * width);
  for (let column = 0; column < width; column += 1) rows[column] = column;
  const at = (row: number, column: number) => rows[row * width + column] as number;
  return (candidate: string, asBeginning: boolean): boolean => {
    for (let row = 1; row <= candidate.length; row += 1) {
      const [letter, before] = [candidate[row - 1], candidate[row - 2]];
      let nearest = row;
      rows[row * width] = row;
      for (let column = 1; column < width; column += 1) {
        const wanted = word[column - 1];
        const replaced = at(row - 1, column - 1) + (wanted === letter ? 0 : 1);
        let distance = Math.min(replaced, at(row - 1, column) + 1, at(row, column - 1) + 1);
        const isSwapped = wanted === before && word[column - 2] === letter;
        if (isSwapped) distance = Math.min(distance, at(row - 2, column - 2) + 1);
        rows[row * width + column] = distance;
        nearest = Math.min(nearest, distance);
      }
      const isEnough = asBeginning || row === candidate.length;
      if (isEnough && at(row, word.length) <= edits) return true;
      // Further letters only increase the smallest distance.
      if (nearest > edits) return false;
    }
    return false;
  };
}
