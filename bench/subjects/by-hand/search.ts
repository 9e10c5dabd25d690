import type { toInstrument } from './mapping.ts';

type Instrument = ReturnType<typeof toInstrument>;

const BETWEEN_WORDS = /[\s\p{P}]/u;

/** Looks at every instrument, best matches first: the symbol, its beginning, the name, the description. */
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
  found.sort((a, b) => a.rank - b.rank || (a.instrument.id < b.instrument.id ? -1 : 1));
  return found.slice(0, count).map(({ instrument }) => instrument);
}

/** Null unless every word is found. */
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

/** Returns true if one of the text's words begins with the term. */
function hasWord(text: string, beginning: string): boolean {
  for (let at = text.indexOf(beginning); at !== -1; at = text.indexOf(beginning, at + 1)) {
    if (at === 0 || BETWEEN_WORDS.test(text[at - 1] as string)) return true;
  }
  return false;
}
