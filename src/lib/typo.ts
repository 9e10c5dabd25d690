/** In a shorter word, one typo would match every second word. */
export const MIN_LENGTH_OF_TYPO = 4;

/** Whether a word is one edit away from another: an extra, missing or wrong letter, or two swapped letters. */
export function isTypoOf(word: string, typed: string): boolean {
  if (typed.length < MIN_LENGTH_OF_TYPO || Math.abs(word.length - typed.length) > 1) return false;
  const shorter = Math.min(word.length, typed.length);
  let start = 0;
  while (start < shorter && word[start] === typed[start]) start += 1;
  let end = 0;
  const [last, lastTyped] = [word.length - 1, typed.length - 1];
  while (end < shorter - start && word[last - end] === typed[lastTyped - end]) end += 1;
  // The letters that differ, between an equal beginning and an equal end.
  const [left, right] = [word.length - start - end, typed.length - start - end];
  if (left <= 1 && right <= 1) return true;
  const isPair = left === 2 && right === 2;
  return isPair && word[start] === typed[start + 1] && word[start + 1] === typed[start];
}

/** The letters of a word as bits of a number. Some letters share a bit. */
export function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) % 32);
  return letters;
}

/**
 * Whether the letters of two words allow that one is a typo of the other. This rules out nearly all words at little cost:
 * one edit adds at most one letter and removes at most one.
 */
export function mayBeTypo(letters: number, lettersTyped: number): boolean {
  return hasAtMostOneBit(letters & ~lettersTyped) && hasAtMostOneBit(lettersTyped & ~letters);
}

function hasAtMostOneBit(bits: number): boolean {
  return (bits & (bits - 1)) === 0;
}
