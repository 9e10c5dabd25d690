// Punctuation is part of a word only inside it: `BRK.B`, `AT&T` and `S&P` stay whole.
const OUTER_PUNCTUATION = /^\p{P}+|\p{P}+$/gu;
const INNER_PUNCTUATION = /\p{P}+/u;
const SPACE = /\s+/;

/** The whitespace-separated parts of a folded text, unchanged. */
export function chunks(folded: string): string[] {
  return folded.split(SPACE).filter((chunk) => chunk !== '');
}

/** A chunk without surrounding punctuation; a chunk of punctuation alone is left unchanged. */
export function bare(chunk: string): string {
  return chunk.replace(OUTER_PUNCTUATION, '') || chunk;
}

/** The words a text is indexed under: each whole, and the parts that punctuation joins, as `cola` of `coca-cola`. */
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

/** The spellings of a folded symbol: as it is, and without the mark before it (`.DJI`, `#AAPL`). */
export function symbolForms(folded: string): string[] {
  const word = bare(folded);
  return word === folded ? [folded] : [folded, word];
}
