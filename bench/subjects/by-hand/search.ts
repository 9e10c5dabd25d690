import type { toInstrument } from './mapping.ts';

type Instrument = ReturnType<typeof toInstrument>;

const BETWEEN_WORDS = /[\s\p{P}]/u;

/** Scans every instrument. The best matches are first: the symbol, its beginning, the name, the description. */
export function search(
  instruments: readonly Instrument[],
  term: string,
  count: number,
): Instrument[] {
  const words = term.toLowerCase().trim().split(/\s+/);
  const found: { rank: number; instrument: Instrument }[] = [];
  for (const instrument of instruments) {
    const rank = rankOf(instrument, words);
    if (rank !== null) found.push({ rank, instrument });
  }
  // Instruments of equal rank are sorted by their ids.
  found.sort((a, b) => a.rank - b.rank || (a.instrument.id < b.instrument.id ? -1 : 1));
  return found.slice(0, count).map(({ instrument }) => instrument);
}

/** Returns the rank of the word that is matched worst, from 0 for the symbol to 3; null if a word is not found. */
function rankOf(instrument: Instrument, words: readonly string[]): number | null {
  const symbol = instrument.symbol.toLowerCase();
  const name = instrument.name.toLowerCase();
  const description = instrument.description.toLowerCase();
  let worst = 0;
  for (const word of words) {
    if (symbol === word) continue;
    else if (symbol.startsWith(word)) worst = Math.max(worst, 1);
    else if (hasWord(name, word)) worst = Math.max(worst, 2);
    else if (hasWord(description, word)) worst = Math.max(worst, 3);
    else return null;
  }
  return worst;
}

/** Returns true if one of the text's words starts with `beginning`. */
function hasWord(text: string, beginning: string): boolean {
  let index = text.indexOf(beginning);
  while (index !== -1) {
    const startsWord = index === 0 || BETWEEN_WORDS.test(text[index - 1] as string);
    if (startsWord) return true;
    index = text.indexOf(beginning, index + 1);
  }
  return false;
}
