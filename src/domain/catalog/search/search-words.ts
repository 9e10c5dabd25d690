/** Diacritics and invisible characters. */
const MARKS = /[\p{M}\p{Cf}]+/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is all of ASCII, controls included
const ASCII = /^[\x00-\x7f]*$/;

/** Drops case, diacritics and invisible characters, equally in every locale. Search and the order by name compare such texts. */
export function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text.normalize('NFKD').replace(MARKS, '').toLowerCase();
}

// Punctuation belongs to a word only inside it: `BRK.B`, `AT&T` and `S&P` stay whole.
const OUTER_PUNCTUATION = /^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu;
const INNER_PUNCTUATION = /[\p{P}\p{S}]+/u;

/** The parts of a folded text between spaces. */
function chunks(folded: string): string[] {
  return folded.split(/\s+/).filter((chunk) => chunk !== '');
}

/** A chunk without the punctuation around it. A chunk of only punctuation stays as it is. */
export function bare(chunk: string): string {
  return chunk.replace(OUTER_PUNCTUATION, '') || chunk;
}

/**
 * The words by which a text is found: each whole word, the word without punctuation (`us` of `U.S.`), and its parts (`cola`
 * of `coca-cola`, `cash` of the symbol `us500.cash`).
 */
export function splitWords(folded: string): string[] {
  return chunks(folded).flatMap((chunk) => {
    const word = bare(chunk);
    const parts = word.split(INNER_PUNCTUATION);
    const words = parts.length > 1 ? [word, parts.join(''), ...parts] : [word];
    return words.filter((each) => each !== '');
  });
}

// A typed search is short. A longer one would only cost time.
const MAX_TERM_LENGTH = 100;
const MAX_WORDS = 8;

/** The words of a search, folded, with single spaces. An empty term matches everything, as without a search. */
export function toSearchTerm(search: string | null | undefined): string {
  // Cut before folding, because folding a long text costs time, and after it, because folding can lengthen a text.
  const folded = fold((search ?? '').trim().slice(0, MAX_TERM_LENGTH)).slice(0, MAX_TERM_LENGTH);
  return chunks(folded).slice(0, MAX_WORDS).join(' ');
}
