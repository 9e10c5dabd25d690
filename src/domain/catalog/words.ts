// Punctuation is part of a word only inside it: `BRK.B`, `AT&T` and `S&P` stay whole.
const OUTER_PUNCTUATION = /^\p{P}+|\p{P}+$/gu;
const INNER_PUNCTUATION = /\p{P}+/u;
const SPACE = /\s+/;

/** The parts of a folded text between spaces, as they stand. */
export function chunks(folded: string): string[] {
  return folded.split(SPACE).filter((chunk) => chunk !== '');
}

/** A chunk without the quotes, brackets and commas around it; a chunk of nothing else stays what it is. */
export function bare(chunk: string): string {
  return chunk.replace(OUTER_PUNCTUATION, '') || chunk;
}

/** The words a text can be found by: each whole, and the parts that punctuation joins: `coca-cola` also by `cola`. */
export function wordsOf(folded: string): string[] {
  const words: string[] = [];
  for (const chunk of chunks(folded)) {
    const word = bare(chunk);
    words.push(word);
    const parts = word.split(INNER_PUNCTUATION);
    if (parts.length > 1) words.push(...parts.filter((part) => part !== ''));
  }
  return words;
}

/** The ways to write a folded symbol: as it is, and without the mark before it (`.DJI`, `#AAPL`). */
export function symbolForms(folded: string): string[] {
  const word = bare(folded);
  return word === folded ? [folded] : [folded, word];
}
