// In a shorter word, one typo would match every second word.
const MIN_LENGTH = 4;

/** Whether a word is one edit away from another: an extra, missing or wrong letter, or two swapped letters. */
export function isTypoOf(word: string, typed: string): boolean {
  if (typed.length < MIN_LENGTH || Math.abs(word.length - typed.length) > 1) return false;
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
